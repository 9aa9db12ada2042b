// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import type { DocumentType } from '@patchbay/contract/ids';
import fc from 'fast-check';

// Agents as somebody might write them, made from what the documents may hold: several workflows, documents with ids of their own,
// one document in two versions, texts of every kind.

/** A document and how often it is saved before the agent names it. */
export interface RandomDocument {
  readonly type: DocumentType;
  readonly name: string;
  readonly description: string;
  readonly body: Record<string, unknown>;
  readonly earlierVersions: number;
}

export interface RandomAgent {
  readonly name: string;
  readonly description: string;
  readonly mcpEnabled: boolean;
  /** Of each workflow the documents its steps name; the same document may stand in several. */
  readonly workflows: readonly (readonly number[])[];
  readonly documents: readonly RandomDocument[];
}

/** Also what YAML reads as something else when it is written carelessly. */
const tricky = fc.constantFrom(
  'yes',
  'null',
  '1e3',
  '0x1F',
  '- a',
  '# b',
  "it's",
  '"',
  ' a ',
  'a\nb\n',
  '~',
  '\u2028',
  '{}',
  '2026-11-30',
  ': ',
  '&a',
  '!b',
  '%',
  '\t',
  '🙂',
);
/** A text that only begins a template is refused. In JSON neither mark stands outside of texts. */
const withoutTemplates = (value: string) => value.replaceAll(/\{(?=[{%])/g, 'x');
const text = fc
  .oneof(tricky, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), fc.lorem())
  .map(withoutTemplates);
const name = text.map(value => value.trim() || 'x').map(value => (value === '__proto__' ? 'x' : value));
const action = fc.stringMatching(/^[a-z][a-z_]{0,8}$/);
const expressions = fc.constantFrom('drink(*)', 'greeting(hello), polite', 'ask', '*', 'empty');
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const list = <T>(value: fc.Arbitrary<T>, maxLength = 3) => fc.array(value, { maxLength });

const { condition } = fc.letrec<{ condition: Record<string, unknown> }>(tie => ({
  condition: fc.oneof(
    { depthSize: 'small' },
    fc.record({
      type: fc.constant('inputmatcher'),
      configs: fc.record(
        { expressions, occurrence: fc.constantFrom('currentStep', 'lastStep') },
        { requiredKeys: ['expressions'] },
      ),
    }),
    fc.record({ type: fc.constant('actionmatcher'), configs: fc.record({ actions: action }) }),
    fc.record({
      type: fc.constant('dynamicvaluematcher'),
      configs: fc.record({ valuePath: fc.constant('properties.x'), equals: fc.oneof(text, fc.integer()) }),
    }),
    fc.record({
      type: fc.constant('negation'),
      conditions: fc.array(tie('condition'), { minLength: 1, maxLength: 2 }),
    }),
    fc.record({
      type: fc.constant('connector'),
      configs: fc.record({ operator: fc.constantFrom('AND', 'OR') }),
      conditions: fc.array(tie('condition'), { minLength: 1, maxLength: 2 }),
    }),
  ),
}));

const rules = fc.record(
  {
    appendActions: fc.boolean(),
    expressionsAsActions: fc.boolean(),
    behaviorGroups: list(
      fc.record(
        {
          name,
          executionStrategy: fc.constantFrom('executeUntilFirstSuccess', 'executeAll'),
          behaviorRules: list(
            fc.record(
              { name, actions: list(action), conditions: list(condition, 2) },
              { requiredKeys: ['name'] },
            ),
          ),
        },
        { requiredKeys: ['name', 'behaviorRules'] },
      ),
    ),
  },
  { requiredKeys: ['behaviorGroups'] },
);

const item = fc.oneof(
  fc.record(
    { type: fc.constant('text'), text, delay: fc.integer({ min: 0, max: 100 }) },
    { requiredKeys: ['type', 'text'] },
  ),
  fc.record({ type: fc.constant('image'), uri: text, alt: text }, { requiredKeys: ['type', 'uri'] }),
  fc.record({
    type: fc.constant('card'),
    title: text,
    '9': fc.json().map(json => JSON.parse(withoutTemplates(json))),
    '1': text,
  }),
);

const output = fc.record({
  outputSet: list(
    fc.record(
      {
        action,
        timesOccurred: fc.integer({ min: 0, max: 3 }),
        outputs: list(fc.record({ valueAlternatives: fc.array(item, { minLength: 1, maxLength: 3 }) })),
        quickReplies: list(
          fc.record({ value: text, expressions, isDefault: fc.boolean() }, { requiredKeys: ['value'] }),
        ),
      },
      { requiredKeys: ['action'] },
    ),
  ),
});

const dictionary = fc.record(
  {
    lang: fc.constantFrom('en', 'hu'),
    words: list(
      fc.record(
        { word: fc.stringMatching(/^[a-zé]{1,9}$/), expressions, frequency: fc.nat(9) },
        { requiredKeys: ['word'] },
      ),
    ),
    phrases: list(fc.record({ phrase: fc.constantFrom('are you open', 'yes'), expressions })),
    regExs: list(fc.record({ regEx: fc.constantFrom('[0-9]{4}', 'a+b?'), expressions })),
  },
  { requiredKeys: [] },
);

const references = fc.constantFrom(
  '${vars:crm-url}',
  '${vault:crm-key}',
  '${vars:other}',
  '$${no}',
  '{{ input }}',
);
const instruction = fc.record(
  {
    name,
    valueString: fc.oneof(text, references),
    scope: fc.constantFrom('step', 'conversation'),
    override: fc.boolean(),
  },
  { requiredKeys: ['name', 'valueString'] },
);
const property = fc.record({
  setOnActions: list(fc.record({ actions: list(action), setProperties: list(instruction) })),
});

const httpcalls = fc.record({
  targetServerUrl: fc.constantFrom('https://api.example.org/v1', '${vars:crm-url}'),
  httpCalls: fc.uniqueArray(
    fc.record(
      {
        name,
        actions: list(action),
        saveResponse: fc.constant(true),
        responseObjectName: fc.constant('answer'),
        request: fc.record(
          {
            path: fc.constantFrom('/orders', '/orders/{{ properties.id }}'),
            headers: fc.dictionary(fc.stringMatching(/^X-[A-Za-z]{1,9}$/), references, {
              maxKeys: 2,
              noNullPrototype: true,
            }),
            queryParams: fc.dictionary(fc.stringMatching(/^[a-z0-9]{1,9}$/), references, {
              maxKeys: 3,
              noNullPrototype: true,
            }),
            method: fc.constantFrom('get', 'GET', 'HEAD'),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: ['name', 'request', 'responseObjectName'] },
    ),
    { maxLength: 3, selector: call => call.name },
  ),
});

const CONTENT: readonly (readonly [DocumentType, fc.Arbitrary<unknown>])[] = [
  ['rules', rules],
  ['output', output],
  ['dictionary', dictionary],
  ['property', property],
  ['httpcalls', httpcalls],
];

const document = fc.oneof(
  ...CONTENT.map(([type, body]) =>
    fc.record({
      type: fc.constant(type),
      name: name.map(words => words.slice(0, 100)),
      description: optional(text).map(words => words ?? ''),
      body: body.map(value => JSON.parse(JSON.stringify(value)) as Record<string, unknown>),
      earlierVersions: fc.nat(2),
    }),
  ),
);

/** For `fc.assert(fc.asyncProperty(randomAgent, ...))`. */
export const randomAgent: fc.Arbitrary<RandomAgent> = fc.array(document, { maxLength: 6 }).chain(documents =>
  fc.record({
    name: name.map(words => words.slice(0, 100)),
    description: optional(text).map(words => words ?? ''),
    mcpEnabled: fc.boolean(),
    documents: fc.constant(documents),
    workflows: list(
      documents.length === 0 ? fc.constant<number[]>([]) : list(fc.nat(documents.length - 1), 5),
    ),
  }),
);
