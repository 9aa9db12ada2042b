import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readText } from './read-text.ts';

async function* chunksOf(bytes: Buffer, size: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const read = (bytes: Buffer, size: number, maxBytes = 1_000_000) =>
  readText(Readable.from(chunksOf(bytes, size)), { maxBytes, tooLarge: () => new Error('too large') });

describe('A body', () => {
  it.each([1, 2, 3, 7, 1_000])(
    'in chunks of %i bytes is the text it was, characters split between them too',
    async size => {
      const text = 'ä😀\u2028x'.repeat(99);
      expect(await read(Buffer.from(text), size)).toBe(text);
    },
  );

  it('begins behind a byte order mark', async () => {
    expect(await read(Buffer.from('\uFEFF{}'), 2)).toBe('{}');
  });

  it('may be empty', async () => {
    expect(await read(Buffer.alloc(0), 1)).toBe('');
  });

  it('may be as large as the limit and no larger', async () => {
    expect(await read(Buffer.alloc(100, 'x'), 9, 100)).toHaveLength(100);
    await expect(read(Buffer.alloc(101, 'x'), 9, 100)).rejects.toThrow('too large');
  });

  it('leaves the chunks it is made of as they were', async () => {
    const bytes = Buffer.from('abcdef');
    await read(bytes, 2);
    expect(bytes.toString()).toBe('abcdef');
  });

  it('that breaks is an error, also when it broke before anybody read it', async () => {
    const options = { maxBytes: 10, tooLarge: () => new Error('too large') };
    const breaking = new Readable({ read: () => undefined });
    const reading = readText(breaking, options);
    breaking.destroy(new Error('cut'));
    await expect(reading).rejects.toThrow('cut');
    await expect(readText(breaking, options)).rejects.toThrow('cut');

    const ending = new Readable({ read: () => undefined });
    const half = readText(ending, options);
    ending.destroy();
    await expect(half).rejects.toThrow('before it was whole');
  });
});
