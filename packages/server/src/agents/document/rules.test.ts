import { describe, expect, it } from 'vitest';
import { parseDocument } from './parse-document.ts';
import { rulesDocument } from './rules.ts';

/** A document whose one rule has these conditions. */
function withConditions(...conditions: unknown[]) {
  return { behaviorGroups: [{ name: 'g', rules: [{ name: 'r', actions: ['a'], conditions }] }] };
}
const withRule = (rule: object) => ({ behaviorGroups: [{ name: 'g', rules: [{ name: 'r', ...rule }] }] });
const save = (body: unknown) => parseDocument(rulesDocument, body);
const inputIs = (expressions: string, more: object = {}) => ({
  type: 'inputmatcher',
  configs: { expressions, ...more },
});

/** Each rule depends on the one before it; the first on the last, or on none. */
function chain(count: number, isLoop = false) {
  const on = (i: number) => [{ type: 'dependency', configs: { reference: `r${i}` } }];
  const rules = Array.from({ length: count }, (_, i) => ({
    name: `r${i}`,
    conditions: i > 0 ? on(i - 1) : isLoop ? on(count - 1) : [],
  }));
  return { behaviorGroups: [{ name: 'g', rules }] };
}

describe('a rules document', () => {
  it('fills in the documented defaults', () => {
    expect(save(withConditions(inputIs('greeting(*)')))).toEqual({
      appendActions: true,
      expressionsAsActions: false,
      behaviorGroups: [
        {
          name: 'g',
          executionStrategy: 'executeUntilFirstSuccess',
          rules: [
            {
              name: 'r',
              actions: ['a'],
              conditions: [
                { type: 'inputmatcher', configs: { expressions: 'greeting(*)', occurrence: 'currentStep' } },
              ],
            },
          ],
        },
      ],
    });
  });

  it('takes behaviorRules for rules and stores rules, so that saving what is stored changes nothing', () => {
    const saved = save({ behaviorGroups: [{ name: 'g', behaviorRules: [{ name: 'r' }] }] });
    expect(saved.behaviorGroups[0]).toMatchObject({ rules: [{ name: 'r', actions: [], conditions: [] }] });
    expect(saved.behaviorGroups[0]).not.toHaveProperty('behaviorRules');
    expect(save(saved)).toEqual(saved);
    for (const group of [{ name: 'g' }, { name: 'g', rules: [], behaviorRules: [] }]) {
      expect(() => save({ behaviorGroups: [group] })).toThrow('either "rules" or "behaviorRules"');
    }
  });

  it('takes the numbers of other platforms, which are text', () => {
    const saved = save(
      withConditions({
        type: 'occurrence',
        configs: { behaviorRuleName: 'r', minTimesOccurred: '2', maxTimesOccurred: '-1' },
      }),
    );
    expect(saved.behaviorGroups[0]!.rules[0]!.conditions[0]!).toMatchObject({
      configs: { minTimesOccurred: 2, maxTimesOccurred: -1 },
    });
  });

  it.each([
    [
      'an unknown field',
      { appendAction: true, behaviorGroups: [] },
      'field "appendAction" at $.appendAction',
    ],
    [
      'an unknown condition',
      withConditions({ type: 'moonmatcher', configs: {} }),
      'supported conditions are inputmatcher, actionmatcher, contextmatcher',
    ],
    [
      'a contextmatcher without what it compares with',
      withConditions({
        type: 'contextmatcher',
        configs: { contextKey: 'a', contextType: 'object', string: 'x' },
      }),
      'must give "objectKeyPath" for contextType "object"',
    ],
    [
      'a contextmatcher for lists',
      withConditions({ type: 'contextmatcher', configs: { contextKey: 'a', contextType: 'array' } }),
      'field "contextType"',
    ],
    [
      'a dynamicvaluematcher that compares twice',
      withConditions({
        type: 'dynamicvaluematcher',
        configs: { valuePath: 'input', equals: 'a', contains: 'b' },
      }),
      'must give "equals" or "contains"',
    ],
    [
      'an unknown strategy',
      withConditions({ type: 'capabilityMatch', configs: { skill: 'x', strategy: 'best' } }),
      'must be highest_confidence, round_robin, all or a template',
    ],
    [
      'a media type that is none',
      withConditions({ type: 'contentTypeMatcher', configs: { mimeType: 'png' } }),
      'must be a media type',
    ],
    [
      'a deploymentContext that asks for nothing',
      withConditions({ type: 'deploymentContext', configs: {} }),
      'must give "when" or "tagMatches"',
    ],
    [
      'a dependency on nobody',
      withConditions({ type: 'dependency', configs: { reference: 'x' } }),
      'hold a dependency on "x", and there is no rule of this name',
    ],
    [
      'a rule that depends on itself',
      withConditions({ type: 'negation', conditions: [{ type: 'dependency', configs: { reference: 'r' } }] }),
      'hold dependencies in a loop: "r" asks for "r"',
    ],
    [
      'dependencies in a loop',
      chain(3, true),
      'hold dependencies in a loop: "r0" asks for "r2" asks for "r1" asks for "r0"',
    ],
    [
      'an unknown option deep inside',
      withConditions({ type: 'negation', conditions: [inputIs('a', { occurence: 'lastStep' })] }),
      'field "occurence" at $.behaviorGroups[0].rules[0].conditions[0].conditions[0].configs.occurence is unknown (known fields there: expressions, occurrence)',
    ],
    [
      'an occurrence word of its own',
      withConditions(inputIs('a', { occurrence: 'always' })),
      '"currentStep"|',
    ],
    ['broken expressions', withConditions(inputIs('greeting(')), 'must be a comma list of expressions'],
    ['empty expressions', withConditions(inputIs('')), 'must be a comma list of expressions'],
    [
      'an empty connector',
      withConditions({ type: 'connector', configs: { operator: 'AND' }, conditions: [] }),
      'at least one',
    ],
    ['an empty negation', withConditions({ type: 'negation', conditions: [] }), 'at least one condition'],
    [
      'a connector without operator',
      withConditions({ type: 'connector', conditions: [inputIs('a')] }),
      'field "configs"',
    ],
    [
      'an occurrence without bounds',
      withConditions({ type: 'occurrence', configs: { behaviorRuleName: 'r' } }),
      'minTimesOccurred or maxTimesOccurred',
    ],
    [
      'an occurrence without name',
      withConditions({ type: 'occurrence', configs: { minTimesOccurred: 1 } }),
      'field "behaviorRuleName"',
    ],
    [
      'the answer of a step not built',
      withConditions({
        type: 'sizematcher',
        configs: { valuePath: 'memory.current.ragContext.answer', min: 1 },
      }),
      'names "ragContext", which is not there in memory.current; known: input, expressions',
    ],
    [
      'a broken path',
      withConditions({ type: 'sizematcher', configs: { valuePath: 'a..b', min: 1 } }),
      'must be a path such as',
    ],
    ['two actions in one', withRule({ actions: ['greet, leave'] }), 'must be one action'],
    ['a wildcard action', withRule({ actions: ['*'] }), 'must be one action'],
    ['a rule name a plain object does not keep', withRule({ name: '__proto__' }), 'is reserved'],
  ])('refuses %s', (_, body, problem) => {
    expect(() => save(body)).toThrow(problem);
  });

  const rules = (count: number, conditions: object[] = []) =>
    Array.from({ length: count }, (_, i) => ({ name: `r${i}`, conditions }));
  const groups = (count: number, each: object[] = []) => ({
    behaviorGroups: Array.from({ length: count }, (_, i) => ({ name: `g${i}`, rules: each })),
  });
  const nested = (count: number, condition: object) => [
    { type: 'negation', conditions: Array.from({ length: count - 1 }, () => condition) },
  ];
  const skilled = { type: 'capabilityMatch', configs: { skill: 'x' } };
  const ever = { type: 'actionmatcher', configs: { actions: 'a', occurrence: 'never' } };
  it.each([
    ['groups', groups(200), groups(201), 'at most 200 entries'],
    ['rules', groups(2, rules(1_000)), groups(3, rules(1_000)), 'at most 2000 rules together'],
    [
      'conditions',
      groups(1, rules(10, nested(1_000, inputIs('a')))),
      groups(1, rules(11, nested(1_000, inputIs('a')))),
      'at most 10000 conditions together',
    ],
    [
      'conditions over the whole conversation',
      groups(1, rules(4, nested(26, ever))),
      groups(1, rules(4, nested(27, ever))),
      'at most 100 conditions with anyStep or never together',
    ],
    [
      'questions about skills',
      withConditions(...Array(20).fill(skilled)),
      withConditions(...Array(21).fill(skilled)),
      'at most 20 conditions of type capabilityMatch together',
    ],
    ['rules that ask for each other in a row', chain(101), chain(102), 'at most 100 links'],
    [
      'actions',
      withRule({ actions: Array(20).fill('a') }),
      withRule({ actions: Array(21).fill('a') }),
      'at most 20',
    ],
    [
      'actions looked for',
      withConditions({ type: 'actionmatcher', configs: { actions: Array(20).fill('a').join() } }),
      withConditions({ type: 'actionmatcher', configs: { actions: Array(21).fill('a').join() } }),
      'at most 20 actions',
    ],
  ])('takes so many %s and no more', (_, most, tooMany, problem) => {
    expect(() => save(most)).not.toThrow();
    expect(() => save(tooMany)).toThrow(problem);
  });
});
