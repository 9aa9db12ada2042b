import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pickAlternative } from './pick-alternative.ts';

describe('picking an alternative', () => {
  it('says all before one comes again, never one twice running, and the same wherever it is asked', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.string(),
        fc.nat({ max: 10_000 }),
        (count, seed, start) => {
          const alternatives = Array.from({ length: count }, (_, i) => i);
          const said = Array.from({ length: 2 * count }, (_, i) =>
            pickAlternative(alternatives, start + i, seed),
          );
          for (let i = 0; i + count <= said.length; i++) {
            expect(new Set(said.slice(i, i + count)).size).toBe(count);
          }
          expect(said.map((_, i) => pickAlternative(alternatives, start + i, seed))).toEqual(said);
        },
      ),
    );
  });
});
