import { describe, expect, it } from 'vitest';
import { parseDocument } from '../../document/parse-document.ts';
import { rulesDocument } from '../../document/rules.ts';
import type { Counters, PastStep } from '../../step/step.ts';
import { and, type Condition, type ConditionState, not, or } from './conditions.ts';
import { compileRules, rulesStep } from './rules.ts';
import { loadFrom, pastStep, rememberedAs, testMemory, testTools } from './test-turn.ts';

type Memory = Parameters<typeof testMemory>[0];

function compile(body: object) {
  return compileRules(parseDocument(rulesDocument, body));
}

/** Runs a rule set over a turn. */
async function run(body: object, start: Memory = {}) {
  const memory = testMemory(start);
  const result = await compile(body).run(memory, testTools());
  return { memory, result };
}

const group = (rules: object[], more: object = {}) => ({ behaviorGroups: [{ name: 'g', rules, ...more }] });
const rule = (name: string, ...conditions: object[]) => ({ name, actions: [`do_${name}`], conditions });
const input = (expressions: string, occurrence = 'currentStep') => ({
  type: 'inputmatcher',
  configs: { expressions, occurrence },
});
const action = (actions: string, occurrence = 'currentStep') => ({
  type: 'actionmatcher',
  configs: { actions, occurrence },
});
const size = (valuePath: string, bounds: object) => ({
  type: 'sizematcher',
  configs: { valuePath, ...bounds },
});
const never = input('no_such_thing');

/** Does a rule with this condition fire? */
async function holds(condition: object, start: Memory = {}): Promise<boolean> {
  const { memory } = await run(group([rule('it', condition)]), start);
  return memory.actions.includes('do_it');
}

/** The counters when these turns are over. */
function noted(condition: object, ...turns: PastStep[]): Counters {
  const { noteTurn } = compile(group([rule('it', condition)]));
  const counters = testMemory().counters;
  for (const turn of turns) noteTurn?.(turn, counters, testTools().budget);
  return counters;
}

describe('groups and rules', () => {
  it('fire the first rule of a group that holds, and a rule without conditions always', async () => {
    const body = group([rule('a', never), rule('b'), rule('c')]);
    const { memory, result } = await run(body);
    expect(result).toBe('continue');
    expect(memory.actions).toEqual(['CONVERSATION_START', 'do_b']);
    expect(rememberedAs(memory, 'behavior_rules:success')).toEqual([['b']]);
    expect(rememberedAs(memory, 'behavior_rules:fail')).toEqual([['a']]);
    expect(memory.counters.rules).toEqual({ b: 1 });
  });

  it('fire all rules that hold with executeAll', async () => {
    const body = group([rule('a'), rule('b', never), rule('c')], { executionStrategy: 'executeAll' });
    expect((await run(body, { input: 'x' })).memory.actions).toEqual(['do_a', 'do_c']);
  });

  it('let every group contribute, in order, each action once', async () => {
    const same = { name: 'c', actions: ['do_a', 'extra'], conditions: [] };
    const body = {
      behaviorGroups: [
        { name: '1', rules: [rule('a')] },
        { name: '2', rules: [same] },
      ],
    };
    expect((await run(body, { input: 'x' })).memory.actions).toEqual(['do_a', 'extra']);
  });

  it('want all conditions of a rule', async () => {
    const start = { input: 'x', expressions: ['a', 'b'] };
    expect((await run(group([rule('it', input('a'), input('b'))]), start)).memory.actions).toEqual(['do_it']);
    expect((await run(group([rule('it', input('a'), never)]), start)).memory.actions).toEqual([]);
  });

  it('see the turn as it was when the step began', async () => {
    const body = {
      behaviorGroups: [
        { name: '1', rules: [rule('a')] },
        { name: '2', rules: [rule('b', action('do_a'))] },
      ],
    };
    expect((await run(body, { input: 'x' })).memory.actions).toEqual(['do_a']);
    expect((await run(body, { input: 'x', actions: ['do_a'] })).memory.actions).toEqual(['do_a', 'do_b']);
  });

  it('replace earlier actions without appendActions', async () => {
    const { memory } = await run({ ...group([rule('a')]), appendActions: false }, { actions: ['earlier'] });
    expect(memory.actions).toEqual(['do_a']);
  });

  it('raise the names of expressions when told, but nothing a person typed freely', async () => {
    const start = {
      input: 'x',
      expressions: ['greeting(hello)', 'unknown(STOP_CONVERSATION)', 'unused(please)'],
    };
    const { memory } = await run({ ...group([rule('a')]), expressionsAsActions: true }, start);
    expect(memory.actions).toEqual(['greeting', 'do_a']);
    expect((await run(group([rule('a')]), start)).memory.actions).toEqual(['do_a']);
  });

  it('end the turn with STOP_CONVERSATION and with nothing else', async () => {
    const stop = { name: 's', actions: ['STOP_CONVERSATION'], conditions: [input('stop')] };
    const body = group([stop, { name: 'e', actions: ['CONVERSATION_END'] }]);
    expect((await run(body, { input: 'stop', expressions: ['stop'] })).result).toBe('stop');
    expect((await run(body, { input: 'bye', expressions: ['bye'] })).result).toBe('continue');
  });

  it('find the greeting turn by its action', async () => {
    expect(await holds(action('CONVERSATION_START'))).toBe(true);
    expect(await holds(action('CONVERSATION_START'), { input: 'hi' })).toBe(false);
  });

  it('load their document from the reference in the workflow step', async () => {
    const step = { type: 'rules', config: { uri: 'patchbay://rules/hello?version=1' } };
    const compiled = await rulesStep.compile(
      step,
      loadFrom({ 'rules/hello': { ...group([rule('a')]), gone: 1 } }),
    );
    const memory = testMemory({ input: 'x' });
    await compiled.run(memory, testTools());
    expect(memory.actions).toEqual(['do_a']);
    await expect(rulesStep.compile({ type: 'rules' }, loadFrom({}))).rejects.toThrow(
      'rules step: field "config" at $.config is not valid: expected object, received undefined (known fields there: type, config)',
    );
    const other = { type: 'rules', config: { uri: 'patchbay://rules/other?version=1' } };
    await expect(rulesStep.compile(other, loadFrom({}))).rejects.toThrow('is not there');
  });
});

describe('inputmatcher and actionmatcher', () => {
  it('want the list as neighbours in order, with wildcards', async () => {
    const start = { input: 'x', expressions: ['a(1)', 'b', 'c'], actions: ['x', 'y'] };
    for (const list of ['b', 'a(*), b', 'b, c', '*, *, *', 'a(1)'])
      expect(await holds(input(list), start)).toBe(true);
    for (const list of ['b, a(1)', 'a(1), c', 'a', '*, *, *, *'])
      expect(await holds(input(list), start)).toBe(false);
    for (const list of ['x', 'x, y', '*', '*, y']) expect(await holds(action(list), start)).toBe(true);
    for (const list of ['y, x', 'z', 'x, *, y']) expect(await holds(action(list), start)).toBe(false);
  });

  it('match nothing said with "empty", and only that', async () => {
    expect(await holds(input('empty'))).toBe(true);
    expect(await holds(input('empty'), { input: '  ' })).toBe(true);
    expect(await holds(input('empty'), { input: 'something' })).toBe(false);
    expect(await holds(input('empty, empty'))).toBe(false);
    expect(await holds(input('*'))).toBe(false);
  });

  it('look where the occurrence says', async () => {
    const here = pastStep({ input: 'x', expressions: ['a'], actions: ['act'] });
    const none = pastStep({ input: 'y' });
    const cases: [occurrence: string, now: boolean, last: boolean, before: boolean, expected: boolean][] = [
      ['currentStep', true, false, false, true],
      ['currentStep', false, true, true, false],
      ['lastStep', true, false, true, false],
      ['lastStep', false, true, false, true],
      ['anyStep', true, false, false, true],
      ['anyStep', false, true, false, true],
      ['anyStep', false, false, true, true],
      ['anyStep', false, false, false, false],
      ['never', false, false, false, true],
      ['never', true, false, false, false],
      ['never', false, true, false, false],
      ['never', false, false, true, false],
    ];
    for (const [occurrence, now, last, before, expected] of cases) {
      const step = (is: boolean): PastStep => (is ? here : none);
      const start = {
        input: 'z',
        expressions: now ? ['a'] : [],
        actions: now ? ['act'] : [],
        last: step(last),
      };
      for (const condition of [input('a', occurrence), action('act', occurrence)]) {
        const counters = noted(condition, step(before), step(last));
        expect([occurrence, await holds(condition, { ...start, counters })]).toEqual([occurrence, expected]);
      }
    }
    expect(await holds(input('a', 'lastStep'), { input: 'first turn' })).toBe(false);
  });

  it('keep of earlier turns what is asked about the whole conversation, however deep, and nothing else', () => {
    const deep = (inner: object) => ({
      type: 'connector',
      configs: { operator: 'OR' },
      conditions: [{ type: 'negation', conditions: [inner] }],
    });
    const turn = pastStep({ input: 'x', expressions: ['a(b)', 'c'], actions: ['act'] });
    const seen = (condition: object) => Object.keys(noted(deep(condition), turn).seen);
    expect(seen(input('a( * ) ,c', 'anyStep'))).toEqual(['input a(*), c']);
    expect(seen(action('act', 'never'))).toEqual(['action act']);
    for (const condition of [
      input('b', 'anyStep'),
      input('a(*)', 'lastStep'),
      input('a(*)'),
      size('input', { min: 1 }),
    ])
      expect(seen(condition)).toEqual([]);
  });
});

describe('occurrence', () => {
  const times = (bounds: object) => ({ type: 'occurrence', configs: { behaviorRuleName: 'r', ...bounds } });
  const after = (r: number) => ({ counters: { rules: { r } } });

  it('counts successes of a rule in earlier turns, between its bounds', async () => {
    expect(await holds(times({ minTimesOccurred: 1 }))).toBe(false);
    expect(await holds(times({ minTimesOccurred: 1 }), after(1))).toBe(true);
    expect(await holds(times({ maxTimesOccurred: 1 }), after(1))).toBe(true);
    expect(await holds(times({ maxTimesOccurred: 1 }), after(2))).toBe(false);
    expect(await holds(times({ maxTimesOccurred: 0 }))).toBe(true);
    expect(await holds(times({ minTimesOccurred: 2, maxTimesOccurred: 3 }), after(3))).toBe(true);
    expect(await holds(times({ minTimesOccurred: 2, maxTimesOccurred: 3 }), after(4))).toBe(false);
  });

  it('does not count what fires in this very run', async () => {
    const body = group([rule('r'), rule('again', times({ minTimesOccurred: 1 }))], {
      executionStrategy: 'executeAll',
    });
    const { memory } = await run(body, { input: 'x' });
    expect(memory.actions).toEqual(['do_r']);
    expect((await run(body, { input: 'x', counters: memory.counters })).memory.actions).toEqual([
      'do_r',
      'do_again',
    ]);
  });

  it('knows no rule by an inherited name', async () => {
    const configs = { behaviorRuleName: 'constructor', minTimesOccurred: 0, maxTimesOccurred: 0 };
    expect(await holds({ type: 'occurrence', configs })).toBe(true);
  });
});

describe('sizematcher', () => {
  it('measures what it finds', async () => {
    const start = {
      input: '12 apples',
      expressions: ['a', 'b'],
      context: {
        text: 'four',
        number: 7.5,
        numeric: ' 42 ',
        list: [1, 2, 3],
        map: { a: 1 },
        nothing: null,
        yes: true,
      },
    };
    const sizes: [path: string, size: number][] = [
      ['context.text', 4],
      ['context.numeric', 42],
      ['context.list', 3],
      ['context.list[1]', 2],
      ['context.map', 1],
      ['context.nothing', 0],
      ['context.missing.deeper', 0],
      ['context.yes', 4],
      ['context.constructor', 0],
      ['memory.current.expressions', 2],
      ['memory.last.actions', 0],
      ['input', 9],
      ['userInfo.userId', 8],
    ];
    for (const [path, equal] of sizes) {
      expect([path, await holds(size(path, { equal }), start)]).toEqual([path, true]);
      expect([path, await holds(size(path, { equal: equal + 1 }), start)]).toEqual([path, false]);
    }
    expect(await holds(size('context.number', { min: 7, max: 8 }), start)).toBe(true);
    expect(await holds(size('context.number', { min: 8 }), start)).toBe(false);
    expect(await holds(size('context.number', { max: 7 }), start)).toBe(false);
  });

  it('is not executed without a bound, which is neither success nor failure', async () => {
    const idle = size('input', {});
    expect(await holds(idle)).toBe(false);
    expect(await holds({ type: 'negation', conditions: [idle] })).toBe(false);
    const both = { type: 'connector', configs: { operator: 'AND' }, conditions: [idle] };
    expect(await holds({ type: 'negation', conditions: [both] })).toBe(true);
  });
});

describe('contextmatcher', () => {
  const context = (contextKey: string, contextType: string, more: object) => ({
    type: 'contextmatcher',
    configs: { contextKey, contextType, ...more },
  });

  it('compares a context of its type, plain or typed', async () => {
    const start = {
      context: {
        city: 'Pécs',
        typed: { type: 'string', value: 'Pécs' },
        mood: { type: 'expressions', value: 'mood(good), polite, order(tea, 2)' },
        user: { name: 'Ada', age: 36, tags: ['vip'], nothing: null },
        list: ['Pécs'],
      },
    };
    const cases: [condition: object, expected: boolean][] = [
      [context('city', 'string', { string: 'Pécs' }), true],
      [context('typed', 'string', { string: 'Pécs' }), true],
      [context('city', 'string', { string: 'Buda' }), false],
      [context('city', 'expressions', { expressions: '*' }), false],
      [context('mood', 'string', { string: 'mood(good), polite, order(tea, 2)' }), false],
      [context('mood', 'expressions', { expressions: 'polite, order(*)' }), true],
      [context('mood', 'expressions', { expressions: 'order(*), polite' }), false],
      [context('user', 'object', { objectKeyPath: '$.name', objectValue: 'Ada' }), true],
      [context('user', 'object', { objectKeyPath: 'age', objectValue: 36 }), true],
      [context('user', 'object', { objectKeyPath: 'tags[0]', objectValue: 'vip' }), true],
      [context('user', 'object', { objectKeyPath: 'tags' }), true],
      [context('user', 'object', { objectKeyPath: 'nothing' }), false],
      [context('user', 'object', { objectKeyPath: 'constructor' }), false],
      [context('list', 'object', { objectKeyPath: '[0]' }), false],
      [context('list', 'string', { string: 'Pécs' }), false],
      [context('constructor', 'string', { string: 'x' }), false],
    ];
    for (const [condition, expected] of cases) {
      expect([condition, await holds(condition, start)]).toEqual([condition, expected]);
    }
  });
});

describe('dynamicvaluematcher', () => {
  const value = (valuePath: string, more: object = {}) => ({
    type: 'dynamicvaluematcher',
    configs: { valuePath, ...more },
  });

  it('compares a value of the turn, looks into it, or asks whether it is there', async () => {
    const start = {
      properties: {
        city: 'Pécs',
        count: 3,
        none: null,
        off: false,
        empty: '',
        list: ['a', 2],
        map: { a: 1 },
      },
    };
    const at = (path: string, more?: object) => value(`properties.${path}`, more);
    const cases: [condition: object, expected: boolean][] = [
      [at('city', { equals: 'Pécs' }), true],
      [at('city', { equals: 'pécs' }), false],
      [at('count', { equals: 3 }), true],
      [at('off', { equals: false }), true],
      [at('missing', { equals: 'undefined' }), false],
      [at('list', { equals: 'a,2' }), false],
      [at('city', { contains: 'éc' }), true],
      [at('list', { contains: '2' }), true],
      [at('list', { contains: 'b' }), false],
      [at('map', { contains: 'a' }), true],
      [at('map', { contains: 'toString' }), false],
      [at('count', { contains: '3' }), false],
      [at('city'), true],
      [at('count'), true],
      [at('list'), true],
      [at('none'), false],
      [at('off'), false],
      [at('empty'), false],
      [at('missing.deeper'), false],
    ];
    for (const [condition, expected] of cases) {
      expect([condition, await holds(condition, start)]).toEqual([condition, expected]);
    }
  });
});

describe('dependency', () => {
  const on = (reference: string) => ({ type: 'dependency', configs: { reference } });

  it('holds when a rule of the name does, which neither fires nor counts by that', async () => {
    const body = {
      behaviorGroups: [
        {
          name: '1',
          rules: [rule('first'), rule('yes'), rule('no', never), rule('twice', never), rule('twice')],
        },
        {
          name: '2',
          executionStrategy: 'executeAll',
          rules: [rule('a', on('yes')), rule('b', on('no')), rule('c', on('twice')), rule('d', on('a'))],
        },
      ],
    };
    const { memory } = await run(body, { input: 'x' });
    expect(memory.actions).toEqual(['do_first', 'do_a', 'do_c', 'do_d']);
    expect(memory.counters.rules).toEqual({ first: 1, a: 1, c: 1, d: 1 });
  });

  it('fails where the rule was not executed, so that its negation holds', async () => {
    const idle = rule('idle', size('input', {}));
    const { memory } = await run(group([idle, rule('it', { type: 'negation', conditions: [on('idle')] })]), {
      input: 'x',
    });
    expect(memory.actions).toEqual(['do_it']);
  });

  it('is found out once in a turn, however many rules ask', async () => {
    const chain = Array.from({ length: 60 }, (_, i) =>
      rule(
        `r${i}`,
        ...(i === 0
          ? [never]
          : [
              { type: 'negation', conditions: [on(`r${i - 1}`)] },
              { type: 'negation', conditions: [on(`r${i - 1}`)] },
            ]),
      ),
    );
    // Found out anew each time, it would be 2 to the 60th.
    const { memory } = await run(group(chain, { executionStrategy: 'executeAll' }), { input: 'x' });
    expect(memory.actions).toHaveLength(30);
  });
});

describe('capabilityMatch', () => {
  const can = (configs: object) => ({ type: 'capabilityMatch', configs });
  const found = [
    { agentId: 'ann', confidence: 'low' },
    { agentId: 'bob', confidence: 'high' },
    { agentId: 'eve', confidence: 'medium' },
  ] as const;
  const asked: string[] = [];
  const tools = {
    ...testTools(),
    capabilities: async (skill: string) => {
      asked.push(skill);
      return skill === 'translate' ? found : [];
    },
  };

  /** The agents that were found, or nothing when no condition held. */
  async function match(rules: ReturnType<typeof compile>, start: Memory = {}) {
    const memory = testMemory({ input: 'x', ...start });
    await rules.run(memory, tools);
    const remembered = rememberedAs(memory, 'capabilityMatch.results');
    expect(memory.actions.length > 0).toBe(remembered.length > 0);
    return remembered[0];
  }
  const one = (...conditions: object[]) => compile(group([rule('it', ...conditions)]));

  it('finds agents by a skill, arranged by the strategy', async () => {
    expect(await match(one(can({ skill: 'translate' })))).toEqual(['bob', 'eve', 'ann']);
    const all = { skill: 'translate', strategy: 'all', minResults: '3' };
    expect(await match(one(can(all)))).toEqual(['ann', 'bob', 'eve']);
    expect(await match(one(can({ skill: 'translate', minResults: 4 })))).toBeUndefined();
    expect(await match(one(can({ skill: 'sing' })))).toBeUndefined();
    const inTurn = one(can({ skill: 'translate', strategy: 'round_robin' }));
    const firsts = [];
    for (let i = 0; i < 4; i++) firsts.push(((await match(inTurn)) as string[])[0]);
    expect(firsts).toEqual(['ann', 'bob', 'eve', 'ann']);
  });

  it('takes skill and strategy from the turn, and asks once for each skill', async () => {
    const start = { context: { skill: 'translate', how: 'all', wrong: 'best' } };
    const templates = can({ skill: '{{ context.skill }}', strategy: '{{ context.how }}' });
    expect(await match(one(templates), start)).toEqual(['ann', 'bob', 'eve']);
    expect(await match(one(can({ skill: '{{ context.missing }}' })), start)).toBeUndefined();
    const wrong = can({ skill: 'translate', strategy: '{{ context.wrong }}' });
    // An error is no failure: what negates it does not hold either.
    expect(await match(one({ type: 'negation', conditions: [wrong] }), start)).toBeUndefined();
    asked.length = 0;
    await match(one(can({ skill: 'translate' }), can({ skill: 'translate', strategy: 'all' })));
    expect(asked).toEqual(['translate']);
    expect(() => one(can({ skill: '{{ contex.skill }}' }))).toThrow(
      'a template of capabilityMatch is not valid: names "contex"',
    );
  });
});

describe('contentTypeMatcher', () => {
  it('counts the files of the message whose type fits', async () => {
    const file = (contentType: string) => ({ fileId: 'file_a', contentType, size: 1 });
    const attachments = [file('image/png'), file('Image/GIF'), file('text/plain; charset=utf-8')];
    const type = (mimeType: string, minCount?: number | string) => ({
      type: 'contentTypeMatcher',
      configs: { mimeType, ...(minCount !== undefined && { minCount }) },
    });
    const cases: [condition: object, expected: boolean][] = [
      [type('image/*'), true],
      [type('image/*', 2), true],
      [type('image/*', '3'), false],
      [type('IMAGE/gif'), true],
      [type('text/plain'), true],
      [type('*/*', 3), true],
      [type('application/pdf'), false],
    ];
    for (const [condition, expected] of cases) {
      expect([condition, await holds(condition, { input: 'x', attachments })]).toEqual([condition, expected]);
    }
    expect(await holds(type('*/*'), { input: 'x' })).toBe(false);
  });
});

describe('deploymentContext', () => {
  const at = (configs: object) => ({ type: 'deploymentContext', configs });

  it('compares the kind of installation, and a tag of the agent from the context', async () => {
    const tagged = (agentTags: unknown) => ({ input: 'x', context: { agentTags } });
    expect(await holds(at({ when: 'Development' }))).toBe(true);
    expect(await holds(at({ when: 'production' }))).toBe(false);
    expect(await holds(at({ tagMatches: 'risky' }))).toBe(false);
    expect(await holds(at({ tagMatches: 'risky' }), tagged('Risky'))).toBe(true);
    expect(await holds(at({ tagMatches: 'risky' }), tagged(['a', 'risky']))).toBe(true);
    expect(await holds(at({ when: 'production', tagMatches: 'risky' }), tagged('risky'))).toBe(false);
  });
});

describe('connector and negation', () => {
  it('pass errors on, and stop at the first child that decides', () => {
    const asked: ConditionState[] = [];
    const is = (state: ConditionState): Condition => {
      return () => {
        asked.push(state);
        return state;
      };
    };
    const turn = undefined as never;
    const [yes, no, idle, error] = [is('SUCCESS'), is('FAIL'), is('NOT_EXECUTED'), is('ERROR')];
    expect(and([yes, error, no])(turn)).toBe('ERROR');
    expect(and([idle, error])(turn)).toBe('FAIL');
    expect(or([error, yes])(turn)).toBe('SUCCESS');
    expect(or([no, error, idle])(turn)).toBe('ERROR');
    expect(not([yes, error])(turn)).toBe('ERROR');
    expect(not([idle])(turn)).toBe('NOT_EXECUTED');
    asked.length = 0;
    not([no, error])(turn);
    or([yes, error])(turn);
    expect(asked).toEqual(['FAIL', 'SUCCESS']);
  });
});
