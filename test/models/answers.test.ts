import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ModelTool } from '../../packages/server/src/agents/model/model.ts';
import { callsOf, type Rig, startRig, textOf, WAYS } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

/** Its wire format has no place to say that a tool failed: the text has to. */
const COMPATIBLE = 'an OpenAI-compatible server';

const LOOK: ModelTool = {
  name: 'look',
  description: 'Looks at a place.',
  inputSchema: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};

describe.each(WAYS)('A model of $name', way => {
  it('is asked with system prompt, messages, tools and limits, at the configured address, with the key', async () => {
    rig.model.play([{ text: 'Hi.' }]);
    await rig.ask(way, { tools: [LOOK], maxTokens: 77, messages: [{ role: 'user', text: 'Where?' }] });
    expect(rig.model.requests).toHaveLength(1);
    const [seen] = rig.model.requests;
    expect(seen).toMatchObject({
      wire: way.wire,
      model: 'scripted',
      key: 'key-of-the-task',
      system: 'Be brief.',
      messages: [{ role: 'user', text: 'Where?' }],
      tools: [{ name: 'look', description: 'Looks at a place.', schema: { required: ['place'] } }],
    });
    expect(JSON.stringify(seen?.body)).toContain('77');
    // Nothing of a conversation is to be kept over there.
    if (way.wire === 'responses') expect(seen?.body).toMatchObject({ store: false });
    else expect(seen?.body).not.toHaveProperty('store');
  });

  it('answers several requests at once, each sent with its own key and heard by who sent it, while one is taken back', async () => {
    const bar = Promise.withResolvers<void>();
    rig.model.play(({ key = 'no key' }) => ({
      text: key,
      ...(key === 'taken-back' && { until: bar.promise }),
    }));
    const stop = new AbortController();
    const stopped = rig.ask(way, { apiKey: 'taken-back', signal: stop.signal });
    const keys = Array.from({ length: 8 }, (_, index) => `key-${index}`);
    const asked = keys.map(async apiKey => {
      let heard = '';
      const outcome = await rig.ask(way, { apiKey, onText: delta => (heard += delta) });
      return [textOf(outcome), heard];
    });
    stop.abort(new Error('taken back'));
    await expect(stopped).rejects.toThrow('taken back');
    expect(await Promise.all(asked)).toEqual(keys.map(key => [key, key]));
    bar.resolve();
  });

  it('is heard while it answers, and the pieces are the text', async () => {
    const text = ['It is ', 'a fine', ' day.'];
    rig.model.play([{ text }]);
    const heard: string[] = [];
    const outcome = await rig.ask(way, { onText: delta => heard.push(delta) });
    expect(heard).toEqual(text);
    expect(outcome).toMatchObject({ kind: 'answered', finish: 'stop', attempts: 1 });
    expect(textOf(outcome)).toBe('It is a fine day.');
  });

  it('is heard before its answer ends', async () => {
    rig.model.play([{ text: ['First', ' second'], breaks: { after: 1, how: 'stall' } }]);
    const stop = new AbortController();
    const asked = rig.ask(way, {
      signal: stop.signal,
      onText: delta => stop.abort(new Error(`heard ${delta}`)),
    });
    await expect(asked).rejects.toThrow('heard First');
    await rig.model.requests[0]?.gone;
  });

  it('says what it used', async () => {
    const usage = { inputTokens: 120, outputTokens: 40, cacheReadTokens: 100, reasoningTokens: 30 };
    rig.model.play([{ text: 'Hi.', usage }]);
    expect(await rig.ask(way)).toMatchObject({ usage });
  });

  it('calls several tools at once, with the arguments as it wrote them', async () => {
    rig.model.play([
      {
        text: 'Looking.',
        calls: [
          { name: 'look', input: { place: 'Oslo' } },
          { name: 'look', input: { place: 'Rome' } },
          { name: 'look', input: {} },
        ],
      },
    ]);
    const outcome = await rig.ask(way, { tools: [LOOK] });
    expect(outcome).toMatchObject({ kind: 'answered', finish: 'tool-calls' });
    expect(textOf(outcome)).toBe('Looking.');
    expect(callsOf(outcome)).toMatchObject([
      { callId: 'call_1', name: 'look', input: '{"place":"Oslo"}' },
      { callId: 'call_2', name: 'look', input: '{"place":"Rome"}' },
      { callId: 'call_3', name: 'look', input: '{}' },
    ]);
  });

  it('gets its calls, their results and their errors back, and goes on', async () => {
    rig.model.play([
      {
        reasoning: 'Better look.',
        text: 'Looking.',
        calls: [
          { name: 'look', input: { place: 'Oslo' } },
          { name: 'look', input: {} },
        ],
      },
      { text: 'It rains.' },
    ]);
    const asked = { role: 'user', text: 'Weather?' } as const;
    const first = await rig.ask(way, { tools: [LOOK], messages: [asked] });
    if (first.kind === 'failed') throw new Error(first.message);
    // As the journal of a turn gives it back.
    const parts = JSON.parse(JSON.stringify(first.parts));
    const [one, two] = callsOf(first);
    const second = await rig.ask(way, {
      tools: [LOOK],
      messages: [
        asked,
        { role: 'assistant', parts },
        {
          role: 'tool',
          results: [
            { callId: one!.callId, name: 'look', text: 'rain', isError: false },
            { callId: two!.callId, name: 'look', text: 'place is missing', isError: true },
          ],
        },
      ],
    });
    expect(textOf(second)).toBe('It rains.');
    const call = (id: string, input: object) => ({ id, name: 'look', input });
    expect(rig.model.requests[1]?.messages).toEqual([
      asked,
      { role: 'assistant', text: 'Looking.', calls: [call('call_1', { place: 'Oslo' }), call('call_2', {})] },
      { role: 'tool', id: 'call_1', text: 'rain', isError: false },
      { role: 'tool', id: 'call_2', text: 'place is missing', isError: way.name !== COMPATIBLE },
    ]);
    // What a provider signed comes back to it.
    const sent = JSON.stringify(rig.model.requests[1]?.body);
    if (way.wire === 'anthropic' || way.wire === 'gemini') expect(sent).toContain('"signed"');
  });

  it('may be kept from calling the tools that it has called before', async () => {
    rig.model.play([{ text: 'Enough.' }]);
    expect(textOf(await rig.ask(way, { tools: [LOOK], mayCall: false }))).toBe('Enough.');
    expect(rig.model.requests[0]?.tools).toHaveLength(1);
    const { tool_choice, toolConfig } = rig.model.requests[0]!.body;
    const said = JSON.stringify(tool_choice ?? toolConfig).toLowerCase();
    expect(said).toContain('"none"');
  });

  it('gets arguments that are no JSON back as an object that says so', async () => {
    rig.model.play([{ text: 'Sorry.' }]);
    await rig.ask(way, {
      messages: [
        { role: 'user', text: 'Go' },
        {
          role: 'assistant',
          parts: [{ type: 'tool-call', callId: 'call_1', name: 'look', input: '{"place":' }],
        },
        { role: 'tool', results: [{ callId: 'call_1', name: 'look', text: 'no JSON', isError: true }] },
      ],
    });
    expect(rig.model.requests[0]?.messages[1]).toMatchObject({
      calls: [{ input: { malformed_arguments: '{"place":' } }],
    });
  });

  it('that is cut short by its limit says so', async () => {
    rig.model.play([{ text: 'Once upon', finish: 'length' }]);
    const outcome = await rig.ask(way);
    expect(outcome).toMatchObject({ kind: 'answered', finish: 'length' });
    expect(textOf(outcome)).toBe('Once upon');
  });

  it.each(['refusal', 'content-filter'] as const)('that answers with a %s says so', async finish => {
    rig.model.play([{ text: "I can't help with that.", finish }]);
    const outcome = await rig.ask(way);
    expect(outcome).toMatchObject({ kind: 'answered', finish: 'content-filter', attempts: 1 });
    expect(textOf(outcome)).toBe("I can't help with that.");
  });

  it('that answers nothing has answered', async () => {
    rig.model.play([{}]);
    expect(await rig.ask(way)).toMatchObject({ kind: 'answered', finish: 'stop', parts: [] });
  });
});

describe.each(WAYS.filter(({ wire }) => wire !== 'gemini'))('A model of $name', way => {
  it('that writes arguments which are no JSON is taken as it wrote', async () => {
    rig.model.play([{ calls: [{ name: 'look', input: '{"place": "Oslo' }] }]);
    const outcome = await rig.ask(way, { tools: [LOOK] });
    expect(outcome).toMatchObject({ finish: 'tool-calls', attempts: 1 });
    expect(callsOf(outcome)).toMatchObject([{ name: 'look', input: '{"place": "Oslo' }]);
  });
});

describe.each([
  ['deepseek', true],
  ['mistral', false],
  ['groq', false],
] as const)('A model of %s', (provider, takes) => {
  const way = { ...WAYS.find(({ wire }) => wire === 'chat-completions')!, provider };
  it(`gets back what it thought: ${takes}`, async () => {
    rig.model.play([{ reasoning: 'Better look.', calls: [{ name: 'look', input: {} }] }, { text: 'Rain.' }]);
    const first = await rig.ask(way, { tools: [LOOK] });
    const parts = first.kind === 'answered' ? first.parts : [];
    expect(parts.map(({ type }) => type)).toEqual(['reasoning', 'tool-call']);
    await rig.ask(way, {
      tools: [LOOK],
      messages: [
        { role: 'user', text: 'Weather?' },
        { role: 'assistant', parts },
        { role: 'tool', results: [{ callId: 'call_1', name: 'look', text: 'rain', isError: false }] },
      ],
    });
    const [, second] = rig.model.requests;
    expect(JSON.stringify(second?.body).includes('Better look.')).toBe(takes);
    expect(second?.messages[1]).toMatchObject({ calls: [{ id: 'call_1' }] });
    // What it says it used comes without being asked for, or by a member that strict servers refuse.
    expect('stream_options' in second!.body).toBe(provider !== 'mistral');
  });
});

describe('A parameter that a model does not know', () => {
  it('is left out, and the log says so', async () => {
    rig.model.play([{ text: 'Hi.' }]);
    const way = WAYS.find(({ wire }) => wire === 'responses')!;
    await rig.ask(way, { model: 'gpt-5.4', temperature: 0.5, tools: [LOOK] });
    expect(rig.model.requests[0]?.body).not.toHaveProperty('temperature');
    expect(rig.log).toMatch(/"feature":"temperature".*a model was not sent all of its request/);
  });
});

describe('Gemini', () => {
  const way = WAYS.find(({ wire }) => wire === 'gemini')!;
  const malformed = { calls: [{ name: 'look', input: '{"place": "Oslo' }] };
  it('is asked again when it could not write a call', async () => {
    rig.model.play([malformed, { calls: [{ name: 'look', input: {} }] }]);
    const outcome = await rig.ask(way, { tools: [LOOK] });
    expect(outcome).toMatchObject({ finish: 'tool-calls', attempts: 2 });
    expect(callsOf(outcome)).toHaveLength(1);
  });
  it('that can never write it has failed', async () => {
    rig.model.play(() => malformed);
    expect(await rig.ask(way, { tools: [LOOK] })).toMatchObject({ code: 'PROTOCOL_ERROR', attempts: 3 });
  });
});
