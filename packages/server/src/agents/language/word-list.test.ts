import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { soundOf } from './phonetic.ts';
import { createWordList, splitWord, typingErrors } from './word-list.ts';

const free = () => {};

/** As in a textbook: the whole table, the rule for swapped neighbours in words. */
function naiveErrors(a: string, b: string): number {
  const table = [...a, ''].map((_, i) => [...b, ''].map((_, j) => (i === 0 ? j : j === 0 ? i : 0)));
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const ways = [
        table[i - 1]![j]! + 1,
        table[i]![j - 1]! + 1,
        table[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
      ];
      if (a.slice(i - 2, i) === [...b.slice(j - 2, j)].reverse().join('') && i > 1 && j > 1) {
        ways.push(table[i - 2]![j - 2]! + 1);
      }
      table[i]![j] = Math.min(...ways);
    }
  }
  return table[a.length]![b.length]!;
}

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é'), minLength: 1, maxLength: 9 });

describe('typing errors', () => {
  it('are counted as by the whole table, as far as they count', () => {
    fc.assert(
      fc.property(word, word, fc.integer({ min: 1, max: 5 }), (a, b, most) => {
        expect(typingErrors(a, b, most)).toBe(Math.min(naiveErrors(a, b), most + 1));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('a list of words', () => {
  it('finds the similar words that comparing with each one finds, nearest first', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(word, { maxLength: 30 }),
        word,
        fc.integer({ min: 1, max: 3 }),
        (words, said, errors) => {
          fc.pre(!words.includes(said));
          const found = createWordList(words).similar(said, errors, 100, free);
          const expected = words.filter(
            other => naiveErrors(said, other) <= Math.min(errors, said.length - 1, other.length - 1),
          );
          expect(found.map(one => one.word).toSorted()).toEqual(expected.toSorted());
          const distances = found.map(one => one.errors);
          expect(distances).toEqual(distances.toSorted((a, b) => a - b));
          expect(distances).toEqual(found.map(one => naiveErrors(said, one.word)));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('charges for all it compares, and no more than a tenth of comparing with each word in full', () => {
    const words = Array.from({ length: 10_000 }, (_, i) => (i * 2_654_435_761).toString(36));
    let steps = 0;
    createWordList(words).similar('hello1x', 2, 5, more => {
      steps += more;
    });
    expect(steps).toBeGreaterThan(100);
    expect(steps).toBeLessThan(7 * 1_000);
  });

  it('finds what sounds the same', () => {
    const list = createWordList(['phone', 'night', 'knight', 'write', 'photo', 'straße']);
    expect(list.sounding('fone', 5, free)).toEqual(['phone']);
    expect(list.sounding('nite', 5, free)).toEqual(['night', 'knight']);
    expect(list.sounding('nite', 1, free)).toEqual(['night']);
    expect(list.sounding('rite', 5, free)).toEqual(['write']);
    expect(list.sounding('x', 5, free)).toEqual([]);
    expect(soundOf('straße')).toBeUndefined();
  });
});

describe('splitting a word', () => {
  const known = new Set(['good', 'morning', 'go', 'od', 'goodmorn', 'ing', 'a']);
  const split = (text: string) => splitWord(text, part => known.has(part), free);

  it('takes the fewest known parts, of equally few the longest first', () => {
    expect(split('goodmorning')).toEqual(['goodmorn', 'ing']);
    expect(split('goodod')).toEqual(['good', 'od']);
    expect(split('goodx')).toBeUndefined();
    expect(split('aa')).toBeUndefined();
    expect(split('good'.repeat(16))).toBeUndefined();
  });

  it('finds parts exactly where there are some', () => {
    const part = fc.constantFrom('ab', 'abc', 'ca', 'bb');
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 8 }), parts => {
        const whole = parts.join('');
        const found = splitWord(whole, one => ['ab', 'abc', 'ca', 'bb'].includes(one), free)!;
        expect(found.join('')).toBe(whole);
        expect(found.length).toBeLessThanOrEqual(parts.length);
      }),
    );
  });
});
