import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parserStep } from './parser.ts';
import { loadFrom, pastStep, testMemory, testTools } from './test-turn.ts';

// What the parser finds, found once more by trying everything: every entry at every place, every word for every error.

interface Entry {
  readonly words: readonly string[];
  readonly expression: string;
  readonly frequency: number;
}

/** Longest first, then nearest, then most frequent, then first. */
function naive(
  said: readonly string[],
  dictionaries: readonly (readonly Entry[])[],
  corrects: boolean,
): string[] {
  const entries = dictionaries.flat();
  const vocabulary = new Set(entries.flatMap(({ words }) => words));
  const costOf = (word: string, of: string): number | undefined => {
    if (word === of) return 0;
    if (!corrects || vocabulary.has(word) || /^\d+$/.test(word)) return undefined;
    return isOneErrorAway(word, of) ? 1 : undefined;
  };
  const found: string[] = [];
  for (let at = 0; at < said.length; ) {
    const fits = entries.flatMap(entry => {
      const costs = entry.words.map((word, i) =>
        said[at + i] === undefined ? undefined : costOf(said[at + i]!, word),
      );
      if (costs.includes(undefined)) return [];
      return [{ ...entry, cost: (costs as number[]).reduce((sum, cost) => sum + cost, 0) }];
    });
    const [best] = fits
      .map((fit, order) => ({ ...fit, order }))
      .sort(
        (a, b) =>
          b.words.length - a.words.length ||
          a.cost - b.cost ||
          b.frequency - a.frequency ||
          a.order - b.order,
      );
    if (best) found.push(best.expression);
    else found.push(/^\d+$/.test(said[at]!) ? `integer(${said[at]})` : `unknown(${said[at]})`);
    at += best?.words.length ?? 1;
  }
  return found;
}

/** Every word one letter away, and the two words that are too short to tell. */
function isOneErrorAway(word: string, other: string): boolean {
  if (Math.min(word.length, other.length) < 2) return false;
  const letters = ['a', 'b', '1'];
  const made = new Set<string>();
  for (let i = 0; i <= word.length; i++) {
    const [before, after] = [word.slice(0, i), word.slice(i)];
    made.add(before + after.slice(1));
    for (const letter of letters) made.add(before + letter + after).add(before + letter + after.slice(1));
    if (after.length > 1) made.add(before + after[1] + after[0] + after.slice(2));
  }
  return made.has(other);
}

const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 4 });
const entries = fc.array(
  fc.record({
    words: fc.array(word, { minLength: 1, maxLength: 3 }),
    frequency: fc.integer({ min: 0, max: 2 }),
  }),
  { maxLength: 5 },
);

describe('the parser', () => {
  it('finds what trying every entry at every place finds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(entries, { maxLength: 3 }),
        fc.array(fc.oneof({ weight: 5, arbitrary: word }, fc.constantFrom('1', '11')), { maxLength: 8 }),
        fc.boolean(),
        fc.boolean(),
        async (drafts, said, corrects, hasReplies) => {
          let count = 0;
          const dictionaries = drafts.map((draft, d) =>
            draft.map(({ words, frequency }) => ({
              words,
              expression: `e${count++}`,
              // Phrases have no frequency, and quick replies, which are the first of the lists here, come before all.
              frequency: hasReplies && d === 0 ? 10 : words.length > 1 ? 0 : frequency,
            })),
          );
          const stored = hasReplies ? dictionaries.slice(1) : dictionaries;
          const replies = hasReplies ? (dictionaries[0] ?? []) : [];
          const bodies = stored.map(list => ({
            words: list
              .filter(({ words }) => words.length === 1)
              .map(({ words, expression, frequency }) => ({
                word: words[0],
                expressions: expression,
                frequency,
              })),
            phrases: list
              .filter(({ words }) => words.length > 1)
              .map(({ words, expression }) => ({ phrase: words.join(' '), expressions: expression })),
          }));
          const compiled = await parserStep.compile(
            {
              type: 'parser',
              extensions: {
                dictionaries: [
                  ...bodies.map((_, i) => ({
                    type: 'regular',
                    config: { uri: `patchbay://dictionary/words-${i}?version=1` },
                  })),
                  { type: 'integer' },
                ],
                corrections: corrects
                  ? [{ type: 'levenshtein', config: { distance: 1, maxCandidates: 100 } }]
                  : [],
              },
            },
            loadFrom(Object.fromEntries(bodies.map((body, i) => [`dictionary/words-${i}`, body]))),
          );
          const quickReplies = replies.map(({ words, expression }) => ({
            value: words.join(' '),
            expressions: expression,
          }));
          const memory = testMemory({ input: said.join(' '), last: pastStep({ quickReplies }) });
          await compiled.run(memory, testTools());
          expect(memory.expressions).toEqual(naive(said, dictionaries, corrects));
        },
      ),
      { numRuns: 1_500 },
    );
  });
});
