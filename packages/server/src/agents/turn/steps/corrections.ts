import type { CorrectionDocument } from '../../document/parser.ts';
import { type Token, tokenOf } from '../../language/tokens.ts';
import { splitWord, type WordList } from '../../language/word-list.ts';
import type { TurnBudget } from '../../step/step.ts';
import type { Sliced } from './in-slices.ts';

/** A word as it was heard: with the known ones it may have been meant as, when no dictionary knows it. */
export interface HeardWord extends Token {
  readonly readings?: readonly Reading[];
}

export interface Reading {
  readonly folded: string;
  /** How far it is from what was said: of two readings the nearer wins. */
  readonly cost: number;
}

/** What was said in place of a word nobody knows: the same word with its readings, or the words it is made up of. */
export type Correct = (
  word: Token,
  known: readonly WordList[],
  max: number,
  budget: TurnBudget,
) => Sliced<readonly HeardWord[]>;

/** How many words that sound alike are tried. */
const MAX_SOUNDING = 5;

/** The first of the corrections that finds anything decides. Answers nothing when none does. */
export function compileCorrections(corrections: readonly CorrectionDocument[]): Correct | undefined {
  const each = corrections.map(compileCorrection);
  if (each.length === 0) return undefined;
  return function* (word, known, max, budget) {
    for (const correct of each) {
      const heard = yield* correct(word, known, max, budget);
      if (heard.length > 0) return heard;
    }
    return [];
  };
}

function compileCorrection(correction: CorrectionDocument): Correct {
  switch (correction.type) {
    case 'levenshtein': {
      const { distance, maxCandidates } = correction.config;
      return function* (word, known, max, budget) {
        const most = Math.min(maxCandidates, max);
        const readings: Reading[] = [];
        for (const list of known) {
          const similar = list.similar(word.folded, distance, most, budget.work);
          readings.push(...similar.map(({ word: folded, errors }) => ({ folded, cost: errors })));
          if (budget.sliceIsOver) yield;
        }
        readings.sort((a, b) => a.cost - b.cost);
        return withReadings(word, readings.slice(0, most));
      };
    }
    case 'phonetic':
      return function* (word, known, max, { work }) {
        const most = Math.min(MAX_SOUNDING, max);
        const sounding = known.flatMap(list => list.sounding(word.folded, most, work));
        const readings = sounding.slice(0, most).map(folded => ({ folded, cost: 1 }));
        return withReadings(word, readings);
      };
    case 'mergedTerms':
      return function* (word, known, _, { work }) {
        const isKnown = (part: string) => known.some(list => list.has(part));
        // Each part is looked for in each list.
        const parts = splitWord(word.folded, isKnown, steps => work(steps * known.length)) ?? [];
        return parts.map((part, i) => tokenOf(part, i === 0 ? word.before : ''));
      };
  }
}

function withReadings(word: Token, readings: readonly Reading[]): readonly HeardWord[] {
  return readings.length === 0 ? [] : [{ ...word, readings: unique(readings) }];
}

/** Two dictionaries may know the same word. */
function unique(readings: readonly Reading[]): readonly Reading[] {
  return readings.filter(({ folded }, i) => readings.findIndex(other => other.folded === folded) === i);
}
