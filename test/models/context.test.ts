import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startToolServer, type ToolServer } from '../mcpcalls/tool-server.ts';
import { startToolsRig, type ToolsRig } from './tools-rig.ts';

describe('What a model is told of what was before', () => {
  let rig: ToolsRig;
  let server: ToolServer;
  beforeAll(async () => {
    rig = await startToolsRig();
    server = await startToolServer('modern');
    await rig.register('shop', { url: server.url, gated: false, trusted: true });
  });
  afterAll(async () => {
    await rig?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const system = (words: string) => ({ parameters: { ...rig.parameters, systemMessage: words } });

  it('is as many turns as its task says, the latest of them, also of a long conversation', async () => {
    const talk = await rig.agent({ conversationHistoryLimit: 100 });
    for (let turn = 1; turn <= 105; turn += 1) await talk.say({ text: `Answer ${turn}.` });
    const { requests } = await talk.say({ text: 'Last.' });
    const said = requests[0]!.messages.flatMap(message => ('text' in message ? [message.text] : []));
    expect(said).toHaveLength(201);
    expect(said.slice(0, 4)).toEqual(['Go on.', 'Answer 6.', 'Go on.', 'Answer 7.']);
    expect(said.slice(-2)).toEqual(['Answer 105.', 'Go on.']);
    const few = await rig.agent({ conversationHistoryLimit: 1 });
    await few.say({ text: 'One.' });
    await few.say({ text: 'Two.' });
    expect(
      (await few.say({ text: 'Three.' })).requests[0]!.messages.map(one => 'text' in one && one.text),
    ).toEqual(['Go on.', 'Two.', 'Go on.']);
  }, 120_000);

  it('goes, the oldest turns first, where the task says how many tokens there may be', async () => {
    // Four characters are about one: 100 of the system message, 2 of what is said now, 102 of each turn before.
    const talk = await rig.agent({ ...system('s'.repeat(400)), maxContextTokens: 310 });
    const answers = ['a', 'b', 'c'].map(letter => letter.repeat(400));
    for (const text of answers) await talk.say({ text });
    const { requests } = await talk.say({ text: 'Now.' });
    const said = requests[0]!.messages.flatMap(message => ('text' in message ? [message.text] : []));
    expect(said).toEqual(['Go on.', answers[1], 'Go on.', answers[2], 'Go on.']);
    const none = await rig.agent({ maxContextTokens: 0 });
    await none.say({ text: 'One.' });
    expect((await none.say({ text: 'Two.' })).requests[0]!.messages).toHaveLength(1);
  });

  it('is of tools within a turn what there is room for: a call goes with its answer, and the latest ones stay (platform.md 3.7)', async () => {
    const talk = await rig.agent({ mcpServers: ['shop'], maxToolContextTokens: 2_500 });
    const round = (id: string, characters = 4_000) => ({
      calls: [{ name: 'shop__huge', input: { characters }, id }],
    });
    const { requests } = await talk.say(round('a'), round('b'), round('c'), round('d', 40_000), {
      text: 'Done.',
    });
    const ids = requests.map(({ messages }) =>
      messages.flatMap(message => (message.role === 'tool' ? [message.id] : [])),
    );
    expect(ids).toEqual([[], ['a'], ['a', 'b'], ['b', 'c'], ['d']]);
    for (const { messages } of requests) {
      const calls = messages.flatMap(message =>
        message.role === 'assistant' ? message.calls.map(({ id }) => id) : [],
      );
      expect(calls).toEqual(messages.flatMap(message => (message.role === 'tool' ? [message.id] : [])));
    }
  });
});
