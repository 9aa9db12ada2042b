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

describe('patterns of a dictionary', () => {
  it('match what the native engine matches', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '1', '-'), maxLength: 7 });
    fc.assert(
      fc.property(pattern, text, (source, some) => {
        expect(compileTokenPattern(source).matches(some)).toBe(new RegExp(`^(?:${source})$`, 'i').test(some));
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
    expect(compileTokenPattern(source).matches(hostile)).toBe(false);
    // The native engine needs longer than the universe; the bound is generous for a busy machine.
    expect(performance.now() - from).toBeLessThan(2000);
  });

  it('covers the whole word, with or without anchors, in any case', () => {
    for (const source of ['ab-\\d+', '^ab-\\d+$', '[A-Z]{2}-\\d{1,}']) {
      const compiled = compileTokenPattern(source);
      expect(['AB-12', 'ab-1'].every(compiled.matches)).toBe(true);
      expect(['xab-12', 'ab-12x', 'ab-', ''].some(compiled.matches)).toBe(false);
    }
    expect(compileTokenPattern('\\p{L}+').matches('árvíztűrő')).toBe(true);
  });

  it('does not look at a word longer than 200 characters', () => {
    const any = compileTokenPattern('.*');
    expect(any.matches('a'.repeat(200))).toBe(true);
    expect(any.matches('a'.repeat(201))).toBe(false);
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
    expect(compileTokenPattern(source).matches('')).toBe(true);
  });
});
