import { z } from 'zod';
import { parseDataPath, parsePath } from '../language/data-path.ts';
import { parseExpressions } from '../language/expression.ts';
import type { DocumentSchema } from './document-type.ts';
import {
  actionField,
  expressionsField,
  listOf,
  MAX_LIST_CHARACTERS,
  MAX_LIST_NAMES,
  nameField,
  tooMany,
} from './fields.ts';

const MAX_GROUPS = 200;
/** Of all groups together. */
const MAX_RULES = 2_000;
/** Of all rules together, the nested ones too. */
const MAX_CONDITIONS = 10_000;
/** Each is kept with every conversation. */
const MAX_LOOK_BACKS = 100;
/** Each asks the store in every turn. */
const MAX_CAPABILITY_MATCHES = 20;
/** Rules that ask for each other in a row. */
const MAX_CHAIN = 100;
const MAX_ACTIONS = 20;
/** Of a value that a condition compares with. */
const MAX_VALUE = 1_000;

/** Where a matcher looks: this turn, the one before, all of them, or "in none of them". */
const occurrence = z.enum(['currentStep', 'lastStep', 'anyStep', 'never']).default('currentStep');

/** Stored by other platforms as text. */
const wholeNumber = z.preprocess(
  value => (typeof value === 'string' && /^-?\d{1,9}$/.test(value) ? Number(value) : value),
  z.int().min(-1, 'must be a whole number, or -1 for no bound'),
);

const inputMatcher = z.strictObject({
  type: z.literal('inputmatcher'),
  configs: z.strictObject({ expressions: expressionsField, occurrence }),
});

const actionMatcher = z.strictObject({
  type: z.literal('actionmatcher'),
  configs: z.strictObject({
    actions: z
      .string()
      .refine(
        text => text.split(',').every(name => name.trim() === '*' || actionField.safeParse(name).success),
        'must be a comma list of action names or "*"',
      )
      .max(MAX_LIST_CHARACTERS, tooMany(MAX_LIST_CHARACTERS, 'characters'))
      .refine(
        text => (parseExpressions(text)?.length ?? 0) <= MAX_LIST_NAMES,
        tooMany(MAX_LIST_NAMES, 'actions'),
      ),
    occurrence,
  }),
});

const occurrenceCondition = z.strictObject({
  type: z.literal('occurrence'),
  configs: z
    .strictObject({
      behaviorRuleName: nameField,
      minTimesOccurred: wholeNumber.default(-1),
      maxTimesOccurred: wholeNumber.default(-1),
    })
    .refine(
      ({ minTimesOccurred, maxTimesOccurred }) => minTimesOccurred >= 0 || maxTimesOccurred >= 0,
      'must give minTimesOccurred or maxTimesOccurred',
    ),
});

const valuePath = z.string().superRefine((text, context) => {
  const path = parseDataPath(text);
  if (typeof path === 'string') context.addIssue(path);
});

const sizeMatcher = z.strictObject({
  type: z.literal('sizematcher'),
  configs: z.strictObject({
    valuePath,
    min: wholeNumber.default(-1),
    max: wholeNumber.default(-1),
    equal: wholeNumber.default(-1),
  }),
});

/** Compared as text: data of other platforms is text where ours is a number. */
const plainValue = z.preprocess(
  value => (typeof value === 'number' || typeof value === 'boolean' ? String(value) : value),
  z.string().max(MAX_VALUE, tooMany(MAX_VALUE, 'characters')),
);

const dynamicValueMatcher = z.strictObject({
  type: z.literal('dynamicvaluematcher'),
  configs: z
    .strictObject({ valuePath, equals: plainValue.optional(), contains: plainValue.optional() })
    .refine(
      ({ equals, contains }) => equals === undefined || contains === undefined,
      'must give "equals" or "contains", or neither to ask whether there is a value',
    ),
});

/** Which option a context of each type is compared with. */
const CONTEXT_OPTIONS = { expressions: 'expressions', object: 'objectKeyPath', string: 'string' } as const;

const contextMatcher = z.strictObject({
  type: z.literal('contextmatcher'),
  configs: z
    .strictObject({
      contextKey: nameField,
      contextType: z.enum(['expressions', 'object', 'string']),
      expressions: expressionsField.optional(),
      objectKeyPath: z
        .string()
        .superRefine((text, context) => {
          const path = parsePath(text);
          if (typeof path === 'string') context.addIssue(path);
        })
        .optional(),
      /** Without it any value there will do. */
      objectValue: plainValue.optional(),
      string: plainValue.optional(),
    })
    .superRefine((configs, context) => {
      const option = CONTEXT_OPTIONS[configs.contextType];
      if (configs[option] === undefined) {
        context.addIssue(`must give "${option}" for contextType "${configs.contextType}"`);
      }
    }),
});

const dependency = z.strictObject({
  type: z.literal('dependency'),
  configs: z.strictObject({ reference: nameField }),
});

const STRATEGIES = ['highest_confidence', 'round_robin', 'all'];

const capabilityMatch = z.strictObject({
  type: z.literal('capabilityMatch'),
  configs: z.strictObject({
    /** A template, as the strategy may be. */
    skill: z.string().trim().min(1, 'must not be empty').max(MAX_VALUE, tooMany(MAX_VALUE, 'characters')),
    strategy: z
      .string()
      .max(MAX_VALUE, tooMany(MAX_VALUE, 'characters'))
      .refine(
        text => STRATEGIES.includes(text) || text.includes('{{'),
        `must be ${STRATEGIES.join(', ')} or a template`,
      )
      .default('highest_confidence'),
    minResults: wholeNumber.default(1),
  }),
});

const deploymentContext = z.strictObject({
  type: z.literal('deploymentContext'),
  configs: z
    .strictObject({ when: nameField.optional(), tagMatches: nameField.optional() })
    .refine(
      ({ when, tagMatches }) => when !== undefined || tagMatches !== undefined,
      'must give "when" or "tagMatches"',
    ),
});

const contentTypeMatcher = z.strictObject({
  type: z.literal('contentTypeMatcher'),
  configs: z.strictObject({
    mimeType: z
      .string()
      .trim()
      .regex(/^([\w.+-]+|\*)\/([\w.+-]+|\*)$/, 'must be a media type such as application/pdf or image/*')
      .max(MAX_VALUE, tooMany(MAX_VALUE, 'characters')),
    minCount: wholeNumber.default(1),
  }),
});

const LEAVES = [
  inputMatcher,
  actionMatcher,
  contextMatcher,
  dynamicValueMatcher,
  sizeMatcher,
  occurrenceCondition,
  dependency,
  capabilityMatch,
  contentTypeMatcher,
  deploymentContext,
] as const;

type LeafCondition = z.output<(typeof LEAVES)[number]>;

export type ConditionDocument =
  | LeafCondition
  | {
      readonly type: 'connector';
      readonly configs: { readonly operator: 'AND' | 'OR' };
      readonly conditions: readonly ConditionDocument[];
    }
  | { readonly type: 'negation'; readonly conditions: readonly ConditionDocument[] };

const children: z.ZodType<ConditionDocument[]> = z.lazy(() =>
  z.array(condition).min(1, 'must hold at least one condition'),
);

const connector = z.strictObject({
  type: z.literal('connector'),
  configs: z.strictObject({ operator: z.enum(['AND', 'OR']) }),
  conditions: children,
});

const negation = z.strictObject({
  type: z.literal('negation'),
  configs: z.strictObject({}).optional(),
  conditions: children,
});

const NAMES = [...LEAVES, connector].map(({ shape }) => shape.type.value).join(', ');

const condition = z.discriminatedUnion('type', [...LEAVES, connector, negation], {
  error: issue =>
    issue.code === 'invalid_union' ? `supported conditions are ${NAMES} and negation` : undefined,
});

const rule = z.strictObject({
  name: nameField,
  actions: listOf(actionField, MAX_ACTIONS).default([]),
  /** All must hold; none always holds. */
  conditions: z.array(condition).default([]),
});

const group = z
  .strictObject({
    name: nameField,
    executionStrategy: z.enum(['executeUntilFirstSuccess', 'executeAll']).default('executeUntilFirstSuccess'),
    rules: z.array(rule).optional(),
    behaviorRules: z.array(rule).optional(),
  })
  .refine(
    ({ rules, behaviorRules }) => (rules === undefined) !== (behaviorRules === undefined),
    'must hold either "rules" or "behaviorRules"',
  )
  .transform(({ rules, behaviorRules, ...rest }) => ({ ...rest, rules: rules ?? behaviorRules ?? [] }));

/** All conditions, the nested ones too. */
function* nestedConditions(conditions: readonly ConditionDocument[]): Generator<ConditionDocument> {
  const waiting = [...conditions];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    yield next;
    if (next.type === 'connector' || next.type === 'negation') waiting.push(...next.conditions);
  }
}

function looksBack(condition: ConditionDocument): boolean {
  if (condition.type !== 'inputmatcher' && condition.type !== 'actionmatcher') return false;
  return condition.configs.occurrence === 'anyStep' || condition.configs.occurrence === 'never';
}

type Rule = z.output<typeof rule>;

/** Which rules each name asks for by `dependency`; rules of the same name count as one. */
function dependenciesOf(rules: readonly Rule[]): ReadonlyMap<string, readonly string[]> {
  const asked = new Map<string, string[]>();
  for (const { name, conditions } of rules) {
    const names = asked.get(name) ?? [];
    asked.set(name, names);
    for (const condition of nestedConditions(conditions)) {
      if (condition.type === 'dependency') names.push(condition.configs.reference);
    }
  }
  return asked;
}

/** What is wrong with the rules that ask for others, as a phrase; `undefined` when each can be answered. */
function dependencyProblem(rules: readonly Rule[]): string | undefined {
  const asked = dependenciesOf(rules);
  for (const names of asked.values()) {
    const unknown = names.find(name => !asked.has(name));
    if (unknown !== undefined) return `hold a dependency on "${unknown}", and there is no rule of this name`;
  }
  // Whoever asks for nobody leaves, round after round. Rounds are the length of the longest chain; who cannot leave is in a loop.
  const waiting = new Map([...asked].map(([name, names]) => [name, new Set(names)]));
  for (let round = 0; waiting.size > 0; round++) {
    const free = [...waiting].filter(([, names]) => names.size === 0).map(([name]) => name);
    if (free.length === 0) {
      return `hold dependencies in a loop: ${loopIn(waiting)
        .map(name => `"${name}"`)
        .join(' asks for ')}`;
    }
    if (round > MAX_CHAIN) return `hold a chain of dependencies; it ${tooMany(MAX_CHAIN, 'links')}`;
    for (const name of free) waiting.delete(name);
    for (const names of waiting.values()) for (const name of free) names.delete(name);
  }
  return undefined;
}

/** A loop among names that all ask for one another, its first name again at the end. */
function loopIn(waiting: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const path: string[] = [];
  let at = waiting.keys().next().value!;
  while (!path.includes(at)) {
    path.push(at);
    at = waiting.get(at)!.values().next().value!;
  }
  return [...path.slice(path.indexOf(at)), at];
}

/** When to raise which action (platform.md 3.3). `behaviorRules` of a group is accepted and stored as `rules`. */
export const rulesDocument = {
  type: 'rules',
  body: z.strictObject({
    appendActions: z.boolean().default(true),
    expressionsAsActions: z.boolean().default(false),
    // A transform runs when the groups are right in themselves.
    behaviorGroups: listOf(group, MAX_GROUPS).transform((groups, context) => {
      const rules = groups.flatMap(({ rules }) => rules);
      const conditions = [...nestedConditions(rules.flatMap(rule => rule.conditions))];
      if (rules.length > MAX_RULES) context.addIssue(tooMany(MAX_RULES, 'rules together'));
      if (conditions.length > MAX_CONDITIONS)
        context.addIssue(tooMany(MAX_CONDITIONS, 'conditions together'));
      if (conditions.filter(looksBack).length > MAX_LOOK_BACKS) {
        context.addIssue(tooMany(MAX_LOOK_BACKS, 'conditions with anyStep or never together'));
      }
      if (conditions.filter(({ type }) => type === 'capabilityMatch').length > MAX_CAPABILITY_MATCHES) {
        context.addIssue(tooMany(MAX_CAPABILITY_MATCHES, 'conditions of type capabilityMatch together'));
      }
      const problem = dependencyProblem(rules);
      if (problem !== undefined) context.addIssue(problem);
      return groups;
    }),
  }),
} as const satisfies DocumentSchema;

export type RulesDocument = z.output<typeof rulesDocument.body>;
