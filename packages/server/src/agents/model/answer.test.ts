import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { AnswerInProgress } from './answer.ts';

const USED = (input: number | undefined, output: number | undefined): LanguageModelV4Usage => ({
  inputTokens: { total: input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: output, text: undefined, reasoning: undefined },
});

const FINISH: LanguageModelV4StreamPart = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: USED(1, 1),
};

function answer(parts: readonly LanguageModelV4StreamPart[]) {
  const said: string[] = [];
  const coming = new AnswerInProgress(delta => said.push(delta));
  for (const part of parts) coming.add(part);
  return { ...coming.end(), usage: coming.usage, said };
}

const text = (delta: string): LanguageModelV4StreamPart[] => [
  { type: 'text-start', id: '0' },
  { type: 'text-delta', id: '0', delta },
  { type: 'text-end', id: '0' },
];
const call = (toolCallId: string, input = '{}'): LanguageModelV4StreamPart => ({
  type: 'tool-call',
  toolCallId,
  toolName: 'look',
  input,
});

describe('An answer', () => {
  it('keeps its parts in the order in which they began', () => {
    const { parts } = answer([
      { type: 'reasoning-start', id: '0' },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'Yes' },
      { type: 'reasoning-delta', id: '0', delta: 'Hm' },
      call('a'),
      FINISH,
    ]);
    expect(parts.map(({ type }) => type)).toEqual(['reasoning', 'text', 'tool-call']);
  });
  it('keeps what the provider added at different moments', () => {
    const { parts } = answer([
      { type: 'reasoning-start', id: '0', providerMetadata: { own: { item: 1 } } },
      { type: 'reasoning-end', id: '0', providerMetadata: { own: { signature: 's' }, other: { x: 1 } } },
      FINISH,
    ]);
    expect(parts).toEqual([
      { type: 'reasoning', text: '', meta: { own: { item: 1, signature: 's' }, other: { x: 1 } } },
    ]);
  });
  it('gives calls without an id, or with one that another has, ids of their own', () => {
    const { parts } = answer([call('a'), call('a'), call(''), call(''), FINISH]);
    const ids = parts.map(part => part.type === 'tool-call' && part.callId);
    expect(new Set(ids).size).toBe(4);
    expect(ids[0]).toBe('a');
  });
  it('calls no more tools than there may be, whatever ids it gives them', () => {
    const calls = (count: number) => [
      call('a'),
      call('a-2'),
      ...Array.from({ length: count }, () => call('a')),
    ];
    const { parts } = answer([...calls(62), FINISH]);
    expect(new Set(parts.map(part => part.type === 'tool-call' && part.callId)).size).toBe(64);
    expect(() => answer([...calls(63), FINISH])).toThrow('calls more than 64 tools at once');
  });
  it('has names and ids that every store keeps', () => {
    const named = { ...call('i\0d\ud800'), toolName: 'lo\0ok\ud83d' } as LanguageModelV4StreamPart;
    expect(answer([named, FINISH]).parts).toMatchObject([{ name: 'look\ufffd', callId: 'id\ufffd' }]);
  });
  it('has called tools also where the server says that it just stopped', () =>
    expect(answer([call('a'), FINISH]).finish).toBe('tool-calls'));
  it('that leaves out what was used has used nothing known', () => {
    const unknown = { ...FINISH, usage: USED(undefined, undefined) };
    expect(answer([unknown]).usage).toBeUndefined();
    expect(answer([{ ...FINISH, usage: USED(Number.NaN, -5) }]).usage).toEqual({
      inputTokens: 0,
      outputTokens: 0,
    });
  });
  it('without its end is cut', () => {
    expect(() => answer(text('Yes'))).toThrow('not whole');
    const interrupted = { ...FINISH, finishReason: { unified: 'interrupted', raw: undefined } } as const;
    expect(() => answer([...text('Yes'), interrupted])).toThrow('not whole');
  });

  it.each<[string, LanguageModelV4StreamPart[]]>([
    ['is longer than', [...text('x'.repeat(600_000)), ...text('x'.repeat(600_000))]],
    [
      'is longer than',
      [{ type: 'text-start', id: '0', providerMetadata: { own: { x: 'x'.repeat(1_000_001) } } }],
    ],
    ['characters of arguments', [call('a', 'x'.repeat(200_001))]],
    [
      'characters of arguments',
      [
        { type: 'tool-input-delta', id: 'a', delta: 'x'.repeat(150_000) },
        { type: 'tool-input-delta', id: 'a', delta: 'x'.repeat(150_000) },
      ],
    ],
    ['more than 64 tools', Array.from({ length: 65 }, (_, index) => call(`${index}`))],
    ['more than 1000 parts', Array.from({ length: 1_001 }, () => text('x')).flat()],
  ])('that %s what may be is not kept', (why, parts) => {
    expect(() => answer(parts)).toThrow(why);
  });
  it('may be as long as that', () => {
    const input = 'x'.repeat(200_000);
    const calls: LanguageModelV4StreamPart[] = Array.from({ length: 4 }, (_, index) => [
      { type: 'tool-input-delta' as const, id: `${index}`, delta: input },
      call(`${index}`, input),
    ]).flat();
    expect(answer([...calls, ...text('x'.repeat(200_000)), FINISH]).parts).toHaveLength(5);
  });
});
