import { describe, expect, it } from 'vitest';
import { estimateTokens, promptOf } from './messages.ts';

const call = (input: string) =>
  promptOf('', [{ role: 'assistant', parts: [{ type: 'tool-call', callId: '1', name: 'look', input }] }]).at(
    0,
  )?.content;

describe('promptOf', () => {
  it('puts the system prompt first, and leaves out what is empty', () => {
    expect(
      promptOf('Be brief.', [
        { role: 'user', text: 'Hello' },
        { role: 'assistant', parts: [{ type: 'text', text: '' }] },
      ]),
    ).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    ]);
    expect(promptOf('', [])).toEqual([]);
  });
  it('carries back what the provider added, also to a thought without a text', () => {
    const meta = { anthropic: { redactedData: 'abc' } };
    expect(promptOf('', [{ role: 'assistant', parts: [{ type: 'reasoning', text: '', meta }] }])).toEqual([
      { role: 'assistant', content: [{ type: 'reasoning', text: '', providerOptions: meta }] },
    ]);
  });
  it('tells results and errors of tools apart', () => {
    const reply = { callId: '1', name: 'look', text: 'gone' };
    const [message] = promptOf('', [
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
  it('sends no half of a character', () => {
    const [message] = promptOf('', [{ role: 'user', text: 'half \ud83d of it' }]);
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
