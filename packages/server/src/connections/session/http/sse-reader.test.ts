import { array, assert, asyncProperty, constantFrom, integer } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSse, type SseEvent } from './sse-reader.ts';

async function* chunksOf(bytes: Uint8Array, sizes: readonly number[]): AsyncIterable<Uint8Array> {
  let at = 0;
  for (let n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(text: string | Uint8Array, sizes = [1_000_000], maxEventChars = 1_000) {
  const events: SseEvent[] = [];
  const retries: number[] = [];
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  await readSse(
    chunksOf(bytes, sizes),
    { maxEventChars, tooLarge: () => new Error('too large') },
    { onEvent: event => events.push(event), onRetry: ms => retries.push(ms) },
  );
  return { events, retries };
}

const plain = (data: string, id?: string): SseEvent => ({ id, event: undefined, data });

describe('A stream of server-sent events', () => {
  it.each([
    ['data: a\n\n', [plain('a')]],
    ['data:a\r\n\r\ndata:b\r\rdata: c\n\n', [plain('a'), plain('b'), plain('c')]],
    ['data:  a\n\n', [plain(' a')]],
    ['data: a\ndata\ndata: b\n\n', [plain('a\n\nb')]],
    ['\uFEFFdata: a\n\n', [plain('a')]],
    [': a comment\n\n:\n\ndata: a\n\n', [plain('a')]],
    ['event: ping\nid: 7\ndata: a\n\n', [{ id: '7', event: 'ping', data: 'a' }]],
    ['id: 7\n\n', [plain('', '7')]],
    ['id: 7\ndata:\n\n', [plain('', '7')]],
    ['event: ping\n\ndata: a\n\n', [plain('a')]],
    ['id: a\0b\ndata: a\n\n', [plain('a')]],
    [`id: ${'x'.repeat(1_001)}\ndata: a\n\n`, [plain('a')], 2_000],
    ['unknown: a\nnothing\ndata: a\n\n', [plain('a')]],
    ['data: a', []],
    ['data: a\n', []],
    ['data: ä\u2028é😀\n\n', [plain('ä\u2028é😀')]],
    ['', []],
  ])('%j is %j', async (text, events, maxEventChars = 1_000) => {
    expect((await read(text, [1_000_000], maxEventChars as number)).events).toEqual(events);
  });

  it('says when to come back, in digits', async () => {
    expect((await read('retry: 500\n\nretry: soon\n\nretry:\n\nretry: 99999999999\n\n')).retries).toEqual([
      500,
    ]);
  });

  it('is the same wherever its chunks end, also within a character and a line end', async () => {
    const line = constantFrom('data: ä', 'data: 😀', 'data', ': c', 'id: 1', 'event: e', '', '\uFEFF', 'x');
    const end = constantFrom('\n', '\r', '\r\n');
    await assert(
      asyncProperty(
        array(line, { maxLength: 12 }),
        array(end, { minLength: 1, maxLength: 3 }),
        array(integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 }),
        async (lines, ends, sizes) => {
          const text = lines.map((one, n) => one + ends[n % ends.length]!).join('');
          expect(await read(text, sizes)).toEqual(await read(text));
        },
      ),
    );
  });

  it.each([
    ['one line', `data: ${'x'.repeat(200)}`],
    ['many lines', 'data: x\n'.repeat(20)],
    ['many empty lines of data', 'data\n'.repeat(50)],
    ['comments between', 'data: x\n: c\n'.repeat(20)],
    ['a comment', `:${'x'.repeat(200)}`],
    ['an id', `id: ${'x'.repeat(200)}`],
  ])('is given up when an event does not end: %s (attack 39)', async (_, text) => {
    await expect(read(text, [10], 100)).rejects.toThrow('too large');
  });

  it('may be as long as it likes, in events that are not', async () => {
    expect((await read(`${'data: x\n: c\n\n'.repeat(1_000)}`, [10], 100)).events).toHaveLength(1_000);
  });

  it.each(['\r', '\n', 'x\r', ':\n\r'])(
    'costs time in proportion to its length, made of %j (attack 39)',
    async part => {
      const bytes = Buffer.from(part.repeat(4_000_000 / part.length));
      expect((await read(bytes, [65_536])).events).toEqual([]);
    },
  );

  it('costs memory in proportion to its length, in whatever pieces it comes (attack 39)', async () => {
    const text = `data: ${'x'.repeat(300_000)}\n\n`;
    expect((await read(text, [1], 400_000)).events).toEqual([plain('x'.repeat(300_000))]);
  });
});
