import { describe, expect, it } from 'vitest';
import { outputDocument } from '../../document/output.ts';
import { parseDocument } from '../../document/parse-document.ts';
import { compileOutput, outputStep } from './output.ts';
import { loadFrom, rememberedAs, testMemory, testTools } from './test-turn.ts';

const text = (value: string) => ({ type: 'text', text: value });
const entry = (action: string, timesOccurred: number, ...bubbles: string[][]) => ({
  action,
  timesOccurred,
  outputs: bubbles.map(alternatives => ({ valueAlternatives: alternatives.map(text) })),
});

function compile(...outputSet: object[]) {
  return compileOutput(parseDocument(outputDocument, { outputSet }));
}

/** What is said when these actions are raised, after `times` turns that raised them too. */
async function say(outputSet: object[], actions: string[], times = 0, conversationId?: string) {
  const counted = Object.fromEntries(actions.map(action => [action, times]));
  const memory = testMemory({ input: 'x', actions, counters: { actions: counted } });
  expect(await compile(...outputSet).run(memory, testTools(conversationId))).toBe('continue');
  return memory;
}
const textsOf = async (...args: Parameters<typeof say>) => (await say(...args)).output.map(item => item.text);

describe('the output', () => {
  it('is that of the raised actions in their order, a bubble for each output', async () => {
    const set = [entry('a', 0, ['A1'], ['A2']), entry('b', 0, ['B'])];
    expect(await textsOf(set, ['b', 'silent', 'a'])).toEqual(['B', 'A1', 'A2']);
    expect(await textsOf(set, [])).toEqual([]);
    expect(await textsOf(set, ['constructor'])).toEqual([]);
  });

  it('changes with how often the action was raised, and stays at the highest level defined', async () => {
    const set = [entry('a', 2, ['third']), entry('a', 0, ['first']), entry('a', 1, ['second'])];
    const said = [0, 1, 2, 3, 50].map(times => textsOf(set, ['a'], times));
    expect((await Promise.all(said)).flat()).toEqual(['first', 'second', 'third', 'third', 'third']);
  });

  it('falls to the level below where one is missing, and is silent before the first', async () => {
    const set = [entry('a', 1, ['second']), entry('a', 3, ['fourth'])];
    const said = [0, 1, 2, 3].map(times => textsOf(set, ['a'], times));
    expect(await Promise.all(said)).toEqual([[], ['second'], ['second'], ['fourth']]);
  });

  it('puts entries of the same level together', async () => {
    expect(await textsOf([entry('a', 0, ['one']), entry('a', 0, ['two'])], ['a'])).toEqual(['one', 'two']);
  });

  it('says one alternative, never the same twice running, and all before one comes again', async () => {
    const alternatives = ['1', '2', '3', '4'];
    const set = [entry('a', 0, ['before']), entry('a', 1, alternatives)];
    const firsts = new Set<string>();
    for (let conversation = 0; conversation < 60; conversation++) {
      const said: string[] = [];
      for (let times = 1; times <= 8; times++)
        said.push(...((await textsOf(set, ['a'], times, `conv_${conversation}`)) as string[]));
      expect(said.slice(0, 4).toSorted()).toEqual(alternatives);
      expect(said.every((one, i) => one !== said[i + 1])).toBe(true);
      firsts.add(said.join(''));
    }
    // 24 orders are possible: conversations differ.
    expect(firsts.size).toBeGreaterThan(12);
    expect(new Set([...firsts].map(order => order[0]))).toEqual(new Set(alternatives));
  });

  it('says the same again when a turn is repeated', async () => {
    const set = [entry('a', 0, ['1', '2', '3'])];
    expect(await textsOf(set, ['a'], 5)).toEqual(await textsOf(set, ['a'], 5));
  });

  it('carries quick replies and items of any type, and remembers which action said what', async () => {
    const quickReplies = [{ value: 'Yes', expressions: 'yes', isDefault: true }, { value: 'No' }];
    const image = { type: 'image', uri: 'https://example.org/a.png' };
    const outputs = [{ valueAlternatives: [text('Look')] }, { valueAlternatives: [image] }];
    const memory = await say([{ action: 'a', outputs, quickReplies }], ['a']);
    expect(memory.output).toEqual([text('Look'), image]);
    expect(memory.quickReplies).toEqual(quickReplies);
    expect(rememberedAs(memory, 'output:text:a:0')).toEqual([text('Look')]);
    expect(rememberedAs(memory, 'output:image:a:1')).toEqual([image]);
    expect(rememberedAs(memory, 'quickReplies:a')).toEqual([quickReplies]);
  });

  it('adds to what an earlier workflow said', async () => {
    const memory = testMemory({ input: 'x', actions: ['a'], output: [text('earlier')] });
    await compile(entry('a', 0, ['now'])).run(memory, testTools());
    expect(memory.output).toEqual([text('earlier'), text('now')]);
  });

  it.each([
    [
      'an open brace',
      entry('a', 0, ['ok'], ['ok', 'Hello {{ context.name']),
      '$.outputSet[0].outputs[1].valueAlternatives[1].text',
    ],
    ['an unknown tag', entry('a', 0, ['{% include "x" %}']), 'tag "include" not found'],
    ['an unknown filter', entry('a', 0, ['{{ input | shout }}']), 'undefined filter: shout'],
    [
      'data that is not there',
      entry('a', 0, ['{{ contex.name }}']),
      'names "contex", which is not there; known: input, context',
    ],
    [
      'the answer of a step not built',
      entry('a', 0, ['{{ memory.current.ragContext.x }}']),
      'names "ragContext"',
    ],
    [
      'a long template',
      entry('a', 0, [`{{ input }}${'x'.repeat(10_000)}`]),
      'must have at most 10000 characters',
    ],
    [
      'long templates together',
      entry('a', 0, ...Array(41).fill([`{{ input }}${'x'.repeat(4_989)}`])),
      'outputs[40].valueAlternatives[0].text is not valid: templates must have at most 200000 characters together',
    ],
    [
      'a button with a broken template',
      { action: 'a', outputs: [{ valueAlternatives: [{ type: 'button', on: { say: ['{{'] } }] }] },
      'valueAlternatives[0].on.say[0]',
    ],
    [
      'a quick reply with a broken template',
      { action: 'a', quickReplies: [{ value: '{% if %}' }] },
      '$.outputSet[0].quickReplies[0].value',
    ],
  ])('refuses %s when the agent is deployed', async (_, broken, problem) => {
    const step = { type: 'output', config: { uri: 'patchbay://output/hello?version=1' } };
    const deploying = outputStep.compile(step, loadFrom({ 'output/hello': { outputSet: [broken] } }));
    await expect(deploying).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining(problem),
    });
  });

  it('is no more than 100 bubbles and 100 quick replies, however many actions speak at once', async () => {
    const bubbles = (action: string, count: number) => entry(action, 0, ...Array(count).fill(['x']));
    const replies = (action: string, count: number) => ({
      action,
      quickReplies: Array(count).fill({ value: 'x' }),
    });
    expect(await textsOf([bubbles('a', 99), bubbles('b', 1)], ['a', 'b'])).toHaveLength(100);
    await expect(say([bubbles('a', 99), bubbles('b', 2)], ['a', 'b'])).rejects.toThrow('100 bubbles');
    await expect(say([replies('a', 99), replies('b', 2)], ['a', 'b'])).rejects.toThrow('100 quick replies');
  });
});
