import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDocument } from '../document/parse-document.ts';
import { type RulesDocument, rulesDocument } from '../document/rules.ts';
import { compileRules } from '../turn/steps/rules.ts';
import { pastStep, rememberedAs, testMemory, testTools } from '../turn/steps/test-turn.ts';
import { lintAgent } from './lint-agent.ts';

// Whatever is said to be dead must be dead: random rules, random turns, and the rules as they really run.

const expression = fc.constantFrom('a', 'b', 'a(x)', 'a(y)', 'a(x, y)', 'a(x, x)');
const pattern = fc
  .array(fc.constantFrom('a', 'b', '*', 'a(*)', 'a(x)', 'a(x, *)', 'a(*, y)', 'a(*, *)', 'empty'), {
    minLength: 1,
    maxLength: 2,
  })
  .map(list => list.join(', '));
const occurrence = fc.constantFrom('currentStep', 'lastStep', 'anyStep', 'never');
const letter = fc.constantFrom('a', 'b');
const small = fc.integer({ min: -1, max: 2 });

const leaf = fc.oneof(
  fc.record({ expressions: pattern, occurrence }).map(configs => ({ type: 'inputmatcher', configs })),
  fc
    .record({ actions: fc.constantFrom('a', 'b', 'a, *', 'c', '*'), occurrence })
    .map(configs => ({ type: 'actionmatcher', configs })),
  letter.map(string => ({
    type: 'contextmatcher',
    configs: { contextKey: 'k', contextType: 'string', string },
  })),
  fc.tuple(fc.constantFrom('equals', 'contains', 'any'), letter).map(([how, value]) => ({
    type: 'dynamicvaluematcher',
    configs: { valuePath: 'properties.p', ...(how !== 'any' && { [how]: value }) },
  })),
  fc.record({ min: small, max: small, equal: small }).map(bounds => ({
    type: 'sizematcher',
    configs: { valuePath: 'memory.current.expressions', ...bounds },
  })),
  fc.constantFrom('development', 'test').map(when => ({ type: 'deploymentContext', configs: { when } })),
  fc.constant({ type: 'dependency', configs: { reference: 'base' } }),
);

const { condition } = fc.letrec<{ condition: object }>(tie => ({
  condition: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.record({
      type: fc.constant('connector'),
      configs: fc.record({ operator: fc.constantFrom('AND', 'OR') }),
      conditions: fc.array(tie('condition'), { minLength: 1, maxLength: 2 }),
    }),
    fc.record({
      type: fc.constant('negation'),
      conditions: fc.array(tie('condition'), { minLength: 1, maxLength: 2 }),
    }),
  ),
}));

const noDependency = leaf.filter(({ type }) => type !== 'dependency');

const document = fc
  .record({
    base: fc.array(noDependency, { maxLength: 1 }),
    rules: fc.array(fc.array(condition, { maxLength: 3 }), { minLength: 1, maxLength: 6 }),
  })
  .map(({ base, rules }) =>
    parseDocument(rulesDocument, {
      behaviorGroups: [
        {
          name: 'one',
          rules: rules.map((conditions, index) => ({ name: `r${index}`, actions: ['a'], conditions })),
        },
        {
          name: 'two',
          executionStrategy: 'executeAll',
          rules: [{ name: 'base', actions: ['b'], conditions: base }],
        },
      ],
    }),
  );

const step = fc.record({
  expressions: fc.array(expression, { maxLength: 3 }),
  // What there can be before the rules: nothing but the start.
  actions: fc.constantFrom<string[]>([], ['CONVERSATION_START']),
});

/** Actions of earlier turns: what the rules could raise. */
const earlier = step.chain(({ expressions }) =>
  fc.subarray(['a', 'b']).map(actions => pastStep({ expressions, actions })),
);

async function deadIn(body: RulesDocument): Promise<string[]> {
  const ref = { type: 'rules', id: 'random', version: 1 } as const;
  const findings = await lintAgent({ documents: [{ ref, first: 0, last: 0, body }] });
  return findings
    .filter(({ code }) => code === 'dead-rule')
    .map(({ place }) => /rule "(\w+)"$/.exec(place)![1]!);
}

describe('a rule that is said to be dead', () => {
  it('never fires, in any turn of any rules', async () => {
    let dead = 0;
    await fc.assert(
      fc.asyncProperty(
        document,
        fc.array(
          fc.record({
            now: step,
            past: fc.array(earlier, { maxLength: 2 }),
            input: fc.constantFrom('', 'x'),
            context: fc.record({ k: letter }, { requiredKeys: [] }),
            properties: fc.record({ p: fc.oneof(letter, fc.constant('ab')) }, { requiredKeys: [] }),
          }),
          { minLength: 10, maxLength: 20 },
        ),
        async (body, turns) => {
          const names = await deadIn(body);
          dead += names.length;
          const compiled = compileRules(body);
          for (const { now, past, ...rest } of turns) {
            const tools = testTools();
            const memory = testMemory({ ...rest, ...now, last: past.at(-1) });
            for (const one of past) compiled.noteTurn?.(one, memory.counters, tools.budget);
            await compiled.run(memory, tools);
            const fired = rememberedAs(memory, 'behavior_rules:success').flat();
            expect(fired.filter(name => names.includes(String(name)))).toEqual([]);
          }
        },
      ),
      { numRuns: 1_500 },
    );
    // Otherwise nothing was tried.
    expect(dead).toBeGreaterThan(300);
  });
});
