import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { oneLine, readLines } from './lines.ts';

async function linesOf(chunks: readonly Uint8Array[]): Promise<(string | undefined)[]> {
  async function* input(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  const lines: (string | undefined)[] = [];
  for await (const line of readLines(input())) lines.push(line);
  return lines;
}

describe('readLines', () => {
  it('keeps every character whole wherever the bytes are cut', async () => {
    const text = fc.string({ unit: 'grapheme' }).map(line => line.replaceAll('\n', ''));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1 }), fc.array(fc.nat()), async (lines, cuts) => {
        const bytes = Buffer.from(`${lines.join('\n')}\n`);
        const places = [...new Set(cuts.map(cut => cut % bytes.length))].sort((a, b) => a - b);
        const chunks = [...places, bytes.length].map((end, index) =>
          bytes.subarray(places[index - 1] ?? 0, end),
        );
        expect(await linesOf(chunks)).toEqual(lines);
      }),
    );
  });

  it('splits at line ends only, not at the Unicode ones, and takes a last line without one', async () => {
    const bytes = Buffer.from('{"a":"x\u2028y\u2029\u0085"}\r\n{"b":1}');
    expect(await linesOf([bytes])).toEqual(['{"a":"x\u2028y\u2029\u0085"}\r', '{"b":1}']);
  });

  it('drops a byte order mark and tells what is no UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('\uFEFF{}\n'), Buffer.from([0xff, 0x0a]), Buffer.from('{}\n')]);
    expect(await linesOf([bytes])).toEqual(['{}', undefined, '{}']);
  });
});

describe('oneLine', () => {
  it('changes the place of nothing in the value, whatever JSON it is', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 2), (json, space) => {
        const pretty = JSON.stringify(JSON.parse(json), null, space);
        const line = oneLine(pretty);
        expect(line).not.toMatch(/[\r\n\u2028\u2029]/);
        expect(JSON.parse(line)).toEqual(JSON.parse(pretty));
      }),
    );
  });

  it('leaves numbers no JavaScript can hold as they are', () => {
    const pretty = '{"n":\r\n12345678901234567890.0, "s": "\u2028"}';
    expect(oneLine(pretty)).toBe('{"n": 12345678901234567890.0, "s": "\\u2028"}');
  });
});
