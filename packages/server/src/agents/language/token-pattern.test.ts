import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileTokenPattern } from './token-pattern.ts';

const { pattern } = fc.letrec<{ pattern: string }>(tie => ({
  pattern: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('a', 'B', '.', '[ab]', '[^a]', '\\d', '\\w', '\\-', '1', ''),
    fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => left + right),
    fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(${left}|${right})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0,}', '*?'))
      .map(([part, quantifier]) => `(?:${part})${quantifier}`),
  ),
}));

const matches = (source: string, text: string) => compileTokenPattern(source).matches(text, () => {});

describe('patterns of a dictionary', () => {
  it('match what the native engine matches', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '1', '-'), maxLength: 7 });
    fc.assert(
      fc.property(pattern, text, (source, some) => {
        expect(matches(source, some)).toBe(new RegExp(`^(?:${source})$`, 'i').test(some));
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    '(a+)+b',
    '(a|a)*b',
    '(a|aa)+b',
    '(a*)*(a*)*(a*)*b',
    '(.*)*x',
    `${'a?'.repeat(99) + 'a'.repeat(99)}b`,
  ])('answers at once where backtracking would not: %s', source => {
    const hostile = 'a'.repeat(199);
    const from = performance.now();
    expect(matches(source, hostile)).toBe(false);
    // The native engine needs longer than the universe; the bound is generous for a busy machine.
    expect(performance.now() - from).toBeLessThan(2000);
  });

  it('charges every state it visits before it visits more', () => {
    const charged = (source: string, text: string) => {
      let states = 0;
      compileTokenPattern(source).matches(text, count => {
        states += count;
      });
      return states;
    };
    expect(charged('abc', 'abc')).toBe(3);
    expect(charged('abc', 'xbc')).toBe(1);
    const hostile = '.{0,100}.{0,100}a{1}\\d';
    expect(charged(hostile, 'a'.repeat(200))).toBeGreaterThan(20_000);
    expect(compileTokenPattern(hostile).states).toBeGreaterThan(200);
    const stopped = () =>
      compileTokenPattern(hostile).matches('a'.repeat(200), () => {
        throw new Error('enough');
      });
    expect(stopped).toThrow('enough');
  });

  it('covers the whole word, with or without anchors, in any case', () => {
    for (const source of ['ab-\\d+', '^ab-\\d+$', '[A-Z]{2}-\\d{1,}']) {
      expect(['AB-12', 'ab-1'].every(text => matches(source, text))).toBe(true);
      expect(['xab-12', 'ab-12x', 'ab-', ''].some(text => matches(source, text))).toBe(false);
    }
    expect(matches('\\p{L}+', 'árvíztűrő')).toBe(true);
  });

  it('does not look at a word longer than 200 characters', () => {
    expect(matches('.*', 'a'.repeat(200))).toBe(true);
    expect(matches('.*', 'a'.repeat(201))).toBe(false);
  });

  it.each([
    ['(a', 'has a "(" without ")"'],
    ['a)', 'has a ")" without "("'],
    ['[a', 'has a "[" without "]"'],
    ['[b-a]', 'is not a regular expression'],
    ['*a', 'has a "*" with nothing to repeat'],
    ['a{x}', 'has a "{" that is no'],
    ['a{3,2}', 'repeats {3,2}'],
    ['a{101}', 'repeats {101}'],
    ['(a{100}){100}', 'is too big'],
    ['a^b', 'has a "^" in the middle'],
    ['\\bword', 'uses "\\b"'],
    ['(a)\\1', 'uses "\\1"'],
    ['(?=a)b', 'uses "(?"'],
    ['(?<x>a)', 'uses "(?"'],
    ['a\\', 'ends with a single'],
    ['\\p{Nothing}', 'is not a regular expression'],
  ])('refuses %s', (source, problem) => {
    expect(() => compileTokenPattern(source)).toThrow(problem);
  });

  it('compiles repeats of nothing without growing', () => {
    const source = `${'('.repeat(20)}${'){100}'.repeat(20)}`;
    expect(matches(source, '')).toBe(true);
  });
});
