import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NoResult } from './built-in-tool.ts';
import { calculate } from './calculator.ts';

describe('The calculator', () => {
  it.each([
    ['1 + 2 * 3', '7'],
    ['(1 + 2) * 3', '9'],
    ['2 ^ 3 ^ 2', '512'],
    ['-2 ^ 2', '-4'],
    ['2 ^ -1', '0.5'],
    ['7 % 4 - -1', '4'],
    ['0.1 + 0.2', '0.3'],
    ['1.5e3 / 2', '750'],
    ['.5 * 4', '2'],
    ['sqrt(16) + ABS(-2)', '6'],
    ['max(1, 2, 3) * min(4, 5)', '12'],
    ['round(2 * pi) + floor(e)', '8'],
    ['ln(e) + log(1000)', '4'],
    ['10 / 4 / 5', '0.5'],
  ])('takes %s for %s', (expression, value) => {
    expect(calculate(expression)).toBe(value);
  });

  it.each([
    ['', 'ends too early'],
    ['1 +', 'ends too early'],
    ['1 2', 'not expected'],
    ['(1', 'not closed'],
    ['1)', 'not expected'],
    ['process.exit(1)', 'cannot be read'],
    ['constructor(1)', 'not known'],
    ['__proto__', 'cannot be read'],
    ['sqrt 4', 'must be followed'],
    ['sqrt(1, 2)', 'takes one value'],
    ['1 / 0', 'no finite value'],
    ['sqrt(-1)', 'no finite value'],
    ['9 ^ 9 ^ 9 ^ 9', 'no finite value'],
    ['('.repeat(400), 'deeper than 100'],
    ['-'.repeat(900), 'deeper than 100'],
  ])('has no value for %s', (expression, why) => {
    expect(() => calculate(expression)).toThrow(NoResult);
    expect(() => calculate(expression)).toThrow(why);
  });

  it('finds what JavaScript finds for sums and products of whole numbers', () => {
    const term = fc.letrec<{ all: string }>(tie => ({
      all: fc.oneof(
        { maxDepth: 5 },
        fc.nat(99).map(String),
        fc
          .tuple(tie('all'), fc.constantFrom('+', '-', '*'), tie('all'))
          .map(([a, sign, b]) => `(${a} ${sign} ${b})`),
      ),
    })).all;
    const plain = (text: string): number => {
      const stack: number[] = [];
      const signs: string[] = [];
      for (const [token] of text.matchAll(/\d+|[-+*()]/g)) {
        if (/\d/.test(token)) stack.push(Number(token));
        else if (token === ')') {
          const [b, a, sign] = [stack.pop()!, stack.pop()!, signs.pop()];
          stack.push(sign === '+' ? a + b : sign === '-' ? a - b : a * b);
        } else if (token !== '(') signs.push(token);
      }
      return stack[0]!;
    };
    fc.assert(
      fc.property(term, text => {
        const value = plain(text);
        fc.pre(Math.abs(value) < 1e15);
        expect(Number(calculate(text))).toBe(value === 0 ? 0 : value);
      }),
    );
  });
});
