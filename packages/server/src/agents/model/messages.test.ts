import { describe, expect, it } from 'vitest';
import { estimateTokens, promptOf } from './messages.ts';
import type { ModelMessage } from './model.ts';

const prompt = (system: string, messages: readonly ModelMessage[]) =>
  promptOf({ system, messages, tools: [] }, { takesThoughts: true });

const call = (input: string) =>
  prompt('', [{ role: 'assistant', parts: [{ type: 'tool-call', callId: '1', name: 'look', input }] }]).at(-1)
    ?.content;

describe('promptOf', () => {
  it('puts the system prompt first, and leaves out what is empty', () => {
    expect(
      prompt('Be brief.', [
        { role: 'user', text: 'Hello' },
        { role: 'assistant', parts: [{ type: 'text', text: '' }] },
      ]),
    ).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    ]);
    expect(prompt('', [])).toEqual([]);
  });
  it('has nothing of blanks alone, which some providers refuse', () => {
    const [begins, called] = prompt('', [
      { role: 'user', text: ' ' },
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: '\n\n' },
          { type: 'tool-call', callId: '1', name: 'look', input: '{}' },
        ],
      },
    ]);
    expect(begins?.content).toEqual([{ type: 'text', text: '(The conversation begins.)' }]);
    expect(called?.content).toMatchObject([{ type: 'tool-call' }]);
  });
  it('lets a person begin a conversation that the agent began', () => {
    const greeting: ModelMessage = { role: 'assistant', parts: [{ type: 'text', text: 'Welcome' }] };
    expect(prompt('', [greeting, { role: 'user', text: 'Hi' }]).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
  });
  it('carries back what the provider added, also to a thought without a text', () => {
    const meta = { anthropic: { redactedData: 'abc' } };
    expect(
      prompt('', [{ role: 'assistant', parts: [{ type: 'reasoning', text: '', meta }] }]).slice(1),
    ).toEqual([{ role: 'assistant', content: [{ type: 'reasoning', text: '', providerOptions: meta }] }]);
  });
  it('tells results and errors of tools apart', () => {
    const reply = { callId: '1', name: 'look', text: 'gone' };
    const [message] = prompt('', [
      {
        role: 'tool',
        results: [
          { ...reply, isError: true },
          { ...reply, isError: false },
        ],
      },
    ]);
    expect(message?.content).toMatchObject([
      { toolCallId: '1', toolName: 'look', output: { type: 'error-text', value: 'gone' } },
      { output: { type: 'text' } },
    ]);
  });
  it.each([
    ['{"a":1}', { a: 1 }],
    ['', {}],
    ['{"a":', { malformed_arguments: '{"a":' }],
    ['[1]', { malformed_arguments: '[1]' }],
    ['null', { malformed_arguments: 'null' }],
  ])('sends the arguments %j as an object', (input, sent) =>
    expect(call(input)).toMatchObject([{ input: sent }]),
  );
  it('sends names that a model made up as names, those of its tools as they are', () => {
    const named = (name: string) => [
      { role: 'tool' as const, results: [{ callId: '1', name, text: '', isError: true }] },
    ];
    const tools = [{ name: 'our.tool', description: '', inputSchema: {} }];
    const nameOf = (name: string) =>
      promptOf({ system: '', messages: named(name), tools }, { takesThoughts: true })[0]?.content[0];
    expect(nameOf('our.tool')).toMatchObject({ toolName: 'our.tool' });
    expect(nameOf('functions.our tool')).toMatchObject({ toolName: 'functions_our_tool' });
    expect(nameOf('')).toMatchObject({ toolName: 'tool' });
    expect(nameOf('x'.repeat(200))).toMatchObject({ toolName: 'x'.repeat(64) });
  });
  it('sends no half of a character', () => {
    const [message] = prompt('', [{ role: 'user', text: 'half \ud83d of it' }]);
    expect(message?.content).toEqual([{ type: 'text', text: 'half \ufffd of it' }]);
  });
});

describe('estimateTokens', () => {
  it('counts four characters as a token, of everything that is sent', () => {
    expect(estimateTokens([])).toBe(0);
    expect(
      estimateTokens([
        { role: 'user', text: '12345678' },
        {
          role: 'assistant',
          parts: [
            { type: 'text', text: '1234' },
            { type: 'tool-call', callId: '1', name: 'look', input: '{}' },
          ],
        },
        { role: 'tool', results: [{ callId: '1', name: 'look', text: '12', isError: false }] },
      ]),
    ).toBe(6);
  });
});
