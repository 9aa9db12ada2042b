import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchesWildcard } from './wildcard.ts';

describe('a pattern with wildcards', () => {
  it.each([
    ['create_*', 'create_issue', true],
    ['create_*', 'create_', true],
    ['create_*', 'recreate_issue', false],
    ['*_issue', 'create_issue', true],
    ['*a*b', 'xaxbxb', true],
    ['*a*b', 'xbxa', false],
    ['Create', 'create', false],
    ['.*', 'abc', false],
    ['', '', true],
    ['', 'a', false],
    ['*', '', true],
  ])('%j on %j: %j', (pattern, text, fits) => {
    expect(matchesWildcard(pattern, text)).toBe(fits);
  });

  it('means what the regular expression of it means', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 8 });
    fc.assert(
      fc.property(letters, letters, (pattern, text) => {
        const expression = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`, 's');
        expect(matchesWildcard(pattern, text)).toBe(expression.test(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('of many wildcards is looked at in as many steps as both are long', () => {
    expect(matchesWildcard(`${'*a'.repeat(100)}*b`, 'a'.repeat(10_000))).toBe(false);
  });
});
