import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineSplitter } from './line-splitter.ts';

function split(chunks: readonly Buffer[], maxBytes = 1_000): string[] {
  const lines: string[] = [];
  const splitter = createLineSplitter({
    maxBytes,
    onLine: (line, cut) => lines.push(`${line.toString('utf8')}${cut ? ' (cut)' : ''}`),
  });
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return lines;
}

describe('lines', () => {
  it('are the same wherever the bytes are cut, and end at line feeds alone', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary' }).map(text => text.replaceAll('\n', '\u2028\r\u2029\u0000'))),
        fc.array(fc.nat({ max: 200 })),
        (texts, cuts) => {
          const bytes = Buffer.from(texts.map(text => `${text}\n`).join(''), 'utf8');
          const places = [0, ...cuts.toSorted((one, other) => one - other), bytes.length];
          const chunks = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
          expect(split(chunks, 1_000_000)).toEqual(texts.map(text => text.toWellFormed()));
        },
      ),
    );
  });

  it('that are empty are lines, and what stands behind the last end is one', () => {
    expect(split([Buffer.from('\n\na\n')])).toEqual(['', '', 'a']);
    expect(split([Buffer.from('a\nha'), Buffer.from('lf')])).toEqual(['a', 'half']);
  });

  it('that are too long are handed over cut, as soon as that is known, and the rest of them never', () => {
    expect(split([Buffer.from('12345\n123456\n1234')], 5)).toEqual(['12345', '12345 (cut)', '1234']);
    const lines: Buffer[] = [];
    const splitter = createLineSplitter({ maxBytes: 4, onLine: line => lines.push(line) });
    splitter.push(Buffer.from('12'));
    splitter.push(Buffer.from('345'));
    expect(lines.map(String)).toEqual(['1234']);
    splitter.push(Buffer.from('678'));
    splitter.end();
    expect(lines).toHaveLength(1);
  });
});
