import { describe, expect, it } from 'vitest';
import { remembered } from './remembered.ts';

describe('What is remembered of a list', () => {
  it('is made once for the same objects in the same order, and again for any other list', () => {
    const made: number[] = [];
    const [a, b] = [{ n: 1 }, { n: 2 }];
    const digits = remembered((parts: readonly { n: number }[]) => {
      const text = parts.map(({ n }) => n).join('');
      made.push(parts.length);
      return { text };
    });
    const both = digits([a, b]);
    expect(both.text).toBe('12');
    expect(digits([a, b])).toBe(both);
    expect(digits([b, a]).text).toBe('21');
    expect(digits([a]).text).toBe('1');
    expect(digits([])).toBe(digits([]));
    expect(digits([{ n: 1 }, b])).not.toBe(both);
    expect(digits([a, b])).toBe(both);
    expect(made).toEqual([2, 2, 1, 0, 2]);
  });
});
