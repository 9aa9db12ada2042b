import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../document/parse-document.ts';
import { type ConditionDocument, type RulesDocument, rulesDocument } from '../../document/rules.ts';
import type { PastStep } from '../../step/step.ts';
import { compileRules } from './rules.ts';
import { pastStep, rememberedAs, testMemory, testTools } from './test-turn.ts';

// The table of platform.md 3.3 once more, written as plainly as it can be: no sharing, no laziness, no parsing of expressions.

type State = 'SUCCESS' | 'FAIL' | 'NOT_EXECUTED' | 'ERROR';
interface Turn {
  readonly input: string;
  readonly expressions: string[];
  readonly actions: string[];
  readonly context: Record<string, unknown>;
  readonly properties: Record<string, unknown>;
  readonly attachments: { fileId: string; contentType: string; size: number }[];
}
interface World {
  readonly document: RulesDocument;
  readonly turn: Turn;
  readonly earlier: readonly PastStep[];
  readonly fired: Readonly<Record<string, number>>;
}

/** Who can do what. */
const CAPABLE: Readonly<Record<string, string[]>> = { cook: ['ann', 'bob'], sing: ['ann'] };

const oneOf = (yes: boolean): State => (yes ? 'SUCCESS' : 'FAIL');

/** Facts are single letters, patterns letters and `*`: a list of patterns is a regular expression over them. */
function occurs(patterns: string, facts: readonly string[]): boolean {
  const source = patterns
    .split(',')
    .map(one => (one === '*' ? '[^|]+' : one))
    .join('\\|');
  return new RegExp(`(^|\\|)${source}($|\\|)`).test(facts.join('|'));
}

function stepsFor(occurrence: string, { turn, earlier }: World): Pick<PastStep, 'expressions' | 'actions'>[] {
  if (occurrence === 'currentStep') return [turn];
  if (occurrence === 'lastStep') return earlier.slice(-1);
  return [...earlier, turn];
}

function matcher(patterns: string, occurrence: string, of: 'expressions' | 'actions', world: World): State {
  const found = stepsFor(occurrence, world).some(step => occurs(patterns, step[of]));
  return oneOf(occurrence === 'never' ? !found : found);
}

function naive(condition: ConditionDocument, world: World): State {
  const { turn, document } = world;
  switch (condition.type) {
    case 'inputmatcher':
      return matcher(condition.configs.expressions, condition.configs.occurrence, 'expressions', world);
    case 'actionmatcher':
      return matcher(condition.configs.actions, condition.configs.occurrence, 'actions', world);
    case 'contextmatcher': {
      const { contextKey, contextType, string, objectKeyPath, objectValue } = condition.configs;
      const value = turn.context[contextKey];
      if (contextType === 'string') return oneOf(value === string);
      const member = (value as Record<string, unknown> | undefined)?.[objectKeyPath!];
      return oneOf(member !== undefined && (objectValue === undefined || `${member}` === objectValue));
    }
    case 'dynamicvaluematcher': {
      const { valuePath, equals, contains } = condition.configs;
      const value = turn.properties[valuePath.slice('properties.'.length)];
      if (equals !== undefined)
        return oneOf(value !== undefined && !Array.isArray(value) && `${value}` === equals);
      if (contains === undefined) return oneOf(value !== undefined);
      return oneOf(
        Array.isArray(value)
          ? value.includes(contains)
          : typeof value === 'string' && value.includes(contains),
      );
    }
    case 'sizematcher': {
      const { min, max, equal } = condition.configs;
      if (min === -1 && max === -1 && equal === -1) return 'NOT_EXECUTED';
      const size = turn.expressions.length;
      return oneOf(size >= min && (max === -1 || size <= max) && (equal === -1 || size === equal));
    }
    case 'occurrence': {
      const { behaviorRuleName, minTimesOccurred, maxTimesOccurred } = condition.configs;
      const times = world.fired[behaviorRuleName] ?? 0;
      return oneOf(times >= minTimesOccurred && (maxTimesOccurred === -1 || times <= maxTimesOccurred));
    }
    case 'dependency': {
      const rules = document.behaviorGroups.flatMap(group => group.rules);
      const named = rules.filter(rule => rule.name === condition.configs.reference);
      return oneOf(named.some(rule => holds(rule.conditions, world) === 'SUCCESS'));
    }
    case 'capabilityMatch':
      return oneOf(CAPABLE[condition.configs.skill]!.length >= condition.configs.minResults);
    case 'contentTypeMatcher': {
      const { mimeType, minCount } = condition.configs;
      const wanted = turn.attachments.filter(
        ({ contentType }) => mimeType === contentType || mimeType === `${contentType.split('/')[0]}/*`,
      );
      return oneOf(wanted.length >= minCount);
    }
    case 'deploymentContext':
      return oneOf(condition.configs.when === 'development');
    case 'connector': {
      const states = condition.conditions.map(child => naive(child, world));
      if (condition.configs.operator === 'AND') return oneOf(states.every(state => state === 'SUCCESS'));
      if (states.includes('SUCCESS')) return 'SUCCESS';
      return states.includes('FAIL') ? 'FAIL' : 'NOT_EXECUTED';
    }
    case 'negation': {
      const state = holds(condition.conditions, world);
      return state === 'NOT_EXECUTED' ? state : oneOf(state === 'FAIL');
    }
  }
}

function holds(conditions: readonly ConditionDocument[], world: World): State {
  return conditions.map(condition => naive(condition, world)).find(state => state !== 'SUCCESS') ?? 'SUCCESS';
}

/** The rules that fire, in order, and the actions after them. */
function naiveRun(world: World) {
  const { document, turn } = world;
  const fired: string[] = [];
  let actions = document.appendActions ? [...turn.actions] : [];
  if (document.expressionsAsActions) actions.push(...turn.expressions);
  for (const group of document.behaviorGroups) {
    const matching = group.rules.filter(rule => holds(rule.conditions, world) === 'SUCCESS');
    const chosen = group.executionStrategy === 'executeAll' ? matching : matching.slice(0, 1);
    for (const rule of chosen) {
      fired.push(rule.name);
      actions.push(...rule.actions);
    }
  }
  actions = actions.filter((action, i) => actions.indexOf(action) === i);
  return { fired, actions };
}

const letter = fc.constantFrom('a', 'b', 'c');
const letters = fc.array(letter, { maxLength: 4 });
const pattern = fc
  .array(fc.constantFrom('a', 'b', '*'), { minLength: 1, maxLength: 3 })
  .map(list => list.join(','));
const occurrence = fc.constantFrom('currentStep', 'lastStep', 'anyStep', 'never');
const small = fc.integer({ min: -1, max: 3 });
const name = fc.integer({ min: 0, max: 5 }).map(i => `r${i}`);

const leaf = fc.oneof(
  fc.record({ expressions: pattern, occurrence }).map(configs => ({ type: 'inputmatcher', configs })),
  fc.record({ actions: pattern, occurrence }).map(configs => ({ type: 'actionmatcher', configs })),
  letter.map(string => ({
    type: 'contextmatcher',
    configs: { contextKey: 'word', contextType: 'string', string },
  })),
  fc.option(letter, { nil: undefined }).map(objectValue => ({
    type: 'contextmatcher',
    configs: {
      contextKey: 'thing',
      contextType: 'object',
      objectKeyPath: 'a',
      ...(objectValue && { objectValue }),
    },
  })),
  fc
    .tuple(fc.constantFrom('text', 'list', 'none'), fc.constantFrom('equals', 'contains', 'any'), letter)
    .map(([property, how, value]) => ({
      type: 'dynamicvaluematcher',
      configs: { valuePath: `properties.${property}`, ...(how !== 'any' && { [how]: value }) },
    })),
  fc.oneof(fc.constant({}), fc.record({ min: small, max: small, equal: small })).map(bounds => ({
    type: 'sizematcher',
    configs: { valuePath: 'memory.current.expressions', ...bounds },
  })),
  fc
    .record({ behaviorRuleName: name, minTimesOccurred: fc.constantFrom(0, 1, 2), maxTimesOccurred: small })
    .map(configs => ({ type: 'occurrence', configs })),
  fc
    .record({ mimeType: fc.constantFrom('image/*', 'image/png'), minCount: fc.constantFrom(1, 2) })
    .map(configs => ({
      type: 'contentTypeMatcher',
      configs,
    })),
  fc
    .constantFrom('development', 'production')
    .map(when => ({ type: 'deploymentContext', configs: { when } })),
  fc
    .record({ skill: fc.constantFrom('cook', 'sing'), minResults: fc.constantFrom(1, 2) })
    .map(configs => ({ type: 'capabilityMatch', configs })),
  // Becomes the name of an earlier rule, so that no loop can arise.
  fc.nat().map(reference => ({ type: 'dependency', configs: { reference } })),
);

const { condition } = fc.letrec<{ condition: object }>(tie => ({
  condition: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.record({
      type: fc.constant('connector'),
      configs: fc.record({ operator: fc.constantFrom('AND', 'OR') }),
      conditions: fc.array(tie('condition'), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      type: fc.constant('negation'),
      conditions: fc.array(tie('condition'), { minLength: 1, maxLength: 2 }),
    }),
  ),
}));

interface Draft {
  readonly type: string;
  readonly configs?: Readonly<Record<string, unknown>>;
  readonly conditions?: readonly Draft[];
}

/** Dependencies of a rule on the ones before it; the first rule has none to depend on. */
function pointBack(draft: Draft, index: number): Draft {
  if (draft.type === 'dependency') {
    if (index === 0) return { type: 'deploymentContext', configs: { when: 'production' } };
    return { ...draft, configs: { reference: `r${(draft.configs!.reference as number) % index}` } };
  }
  return draft.conditions
    ? { ...draft, conditions: draft.conditions.map(child => pointBack(child, index)) }
    : draft;
}

const document = fc
  .record({
    appendActions: fc.boolean(),
    expressionsAsActions: fc.boolean(),
    groups: fc.array(
      fc.record({
        executionStrategy: fc.constantFrom('executeUntilFirstSuccess', 'executeAll'),
        rules: fc.array(
          fc.record({
            actions: fc.array(fc.constantFrom('a', 'b', 'x', 'y'), { maxLength: 2 }),
            conditions: fc.array(condition, { maxLength: 3 }),
          }),
          { maxLength: 3 },
        ),
      }),
      { maxLength: 2 },
    ),
  })
  .map(({ groups, ...rest }) => {
    let index = 0;
    const behaviorGroups = groups.map(({ rules, ...group }, g) => ({
      name: `g${g}`,
      ...group,
      rules: rules.map(rule => {
        const own = index++;
        const conditions = rule.conditions.map(draft => pointBack(draft as Draft, own));
        return { name: `r${own}`, actions: rule.actions, conditions };
      }),
    }));
    return parseDocument(rulesDocument, { ...rest, behaviorGroups });
  });

const past = fc.record({ expressions: letters, actions: letters }).map(pastStep);
const turn = fc.record({
  input: fc.constant('x'),
  expressions: letters,
  actions: letters.map(list => [...new Set(list)]),
  context: fc.record(
    { word: letter, thing: fc.record({ a: letter }, { requiredKeys: [] }) },
    { requiredKeys: [] },
  ),
  properties: fc.record(
    { text: letters.map(list => `-${list.join('')}`), list: letters },
    { requiredKeys: [] },
  ),
  attachments: fc.array(
    fc
      .constantFrom('image/png', 'image/gif', 'text/plain')
      .map(contentType => ({ fileId: 'f', contentType, size: 1 })),
    { maxLength: 3 },
  ),
});

describe('the rule engine', () => {
  it('does what a plain interpreter of the whole language does', async () => {
    await fc.assert(
      fc.asyncProperty(
        document,
        turn,
        fc.array(past, { maxLength: 3 }),
        fc.dictionary(name, fc.integer({ min: 1, max: 3 })),
        async (rules, now, earlier, fired) => {
          const compiled = compileRules(rules);
          const capabilities = async (skill: string) =>
            CAPABLE[skill]!.map(agentId => ({ agentId, confidence: 'high' as const }));
          const tools = { ...testTools(), capabilities };
          const memory = testMemory({ ...now, last: earlier.at(-1), counters: { rules: { ...fired } } });
          for (const step of earlier) compiled.noteTurn?.(step, memory.counters, tools.budget);
          await compiled.run(memory, tools);
          const expected = naiveRun({ document: rules, turn: now, earlier, fired });
          expect(rememberedAs(memory, 'behavior_rules:success').flat()).toEqual(expected.fired);
          expect(memory.actions).toEqual(expected.actions);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
