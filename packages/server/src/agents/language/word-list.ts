import { soundOf } from './phonetic.ts';

/** The words a dictionary knows, arranged for finding those that are nearly another one. */
export interface WordList {
  has(word: string): boolean;
  /** Words at most so many typing errors away from one that is not in the list, nearest first, at most `max`; see `typingErrors`. */
  similar(word: string, errors: number, max: number, charge: Charge): SimilarWord[];
  /** Words that sound the same, at most `max`. */
  sounding(word: string, max: number, charge: Charge): string[];
}

export interface SimilarWord {
  readonly word: string;
  readonly errors: number;
}

/** Told how many steps of work are about to be done. */
type Charge = (steps: number) => void;

/** Words of one length, with the letters of each as a set of bits. */
interface Bucket {
  readonly words: string[];
  readonly letters: number[];
}

/** Ruling a word out by its letters takes a part of a step, comparing it letter by letter some. */
const RULED_OUT_A_STEP = 32;
const LETTERS_A_STEP = 4;
/** No word of a person is longer, and finding its parts takes time square to its length. */
const MAX_SPLIT = 60;
const MIN_PART = 2;

export function createWordList(words: Iterable<string>): WordList {
  const known = new Set(words);
  const buckets = new Map<number, Bucket>();
  for (const word of known) {
    if (!buckets.has(word.length)) buckets.set(word.length, { words: [], letters: [] });
    const bucket = buckets.get(word.length)!;
    bucket.words.push(word);
    bucket.letters.push(lettersOf(word));
  }
  let bySound: Map<string, string[]> | undefined;

  return {
    has: word => known.has(word),

    similar(word, errors, max, charge) {
      const letters = lettersOf(word);
      const found: SimilarWord[] = [];
      for (let length = word.length - errors; length <= word.length + errors; length++) {
        const bucket = buckets.get(length);
        // Otherwise a short word would be any other one.
        const most = Math.min(errors, length - 1, word.length - 1);
        if (bucket === undefined || most < 1) continue;
        charge(1 + bucket.words.length / RULED_OUT_A_STEP);
        for (let i = 0; i < bucket.words.length; i++) {
          // An error changes two letters of the set at the most.
          if (countBits(letters ^ bucket.letters[i]!) > 2 * most) continue;
          charge(1 + word.length / LETTERS_A_STEP);
          const other = bucket.words[i]!;
          const away = typingErrors(word, other, most);
          if (away <= most) found.push({ word: other, errors: away });
        }
      }
      return found.sort((a, b) => a.errors - b.errors).slice(0, max);
    },

    sounding(word, max, charge) {
      const sound = soundOf(word);
      charge(1 + word.length);
      if (sound === undefined) return [];
      bySound ??= groupBySound(known);
      return (bySound.get(sound) ?? []).slice(0, max);
    },
  };
}

function groupBySound(words: Iterable<string>): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const word of words) {
    const sound = soundOf(word);
    if (sound === undefined) continue;
    if (!groups.has(sound)) groups.set(sound, []);
    groups.get(sound)!.push(word);
  }
  return groups;
}

/**
 * The fewest known words that one is made up of, of equally few the longest first; `undefined` when none are. Asks about each
 * part of the word once, and tells `charge` before.
 */
export function splitWord(
  word: string,
  isKnown: (part: string) => boolean,
  charge: Charge,
): readonly string[] | undefined {
  const end = word.length;
  if (end > MAX_SPLIT) return undefined;
  // From the end: how many parts the rest from here has at the least, and how long the first of them is.
  const parts: number[] = Array(end + 1).fill(Number.POSITIVE_INFINITY);
  const first: number[] = Array(end + 1).fill(0);
  parts[end] = 0;
  for (let at = end - MIN_PART; at >= 0; at--) {
    charge(end - at);
    for (let length = MIN_PART; at + length <= end; length++) {
      const count = parts[at + length]! + 1;
      if (count > parts[at]! || count === Number.POSITIVE_INFINITY || !isKnown(word.slice(at, at + length)))
        continue;
      parts[at] = count;
      first[at] = length;
    }
  }
  if (parts[0] === Number.POSITIVE_INFINITY) return undefined;
  const found: string[] = [];
  for (let at = 0; at < end; at += first[at]!) found.push(word.slice(at, at + first[at]!));
  return found;
}

function lettersOf(word: string): number {
  let letters = 0;
  for (let i = 0; i < word.length; i++) letters |= 1 << word.charCodeAt(i);
  return letters;
}

function countBits(bits: number): number {
  let left = bits - ((bits >>> 1) & 0x55555555);
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333);
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/**
 * How many typing errors make one word the other: a letter too many, too few, wrong, or two neighbours swapped. More than `most`
 * are not counted to the end.
 */
export function typingErrors(a: string, b: string, most: number): number {
  const tooMany = most + 1;
  if (Math.abs(a.length - b.length) > most) return tooMany;
  // Only what lies near the diagonal can be few errors; beside it stands too many, so that nothing else need be asked.
  let before = new Uint8Array(b.length + 2).fill(tooMany);
  let above = new Uint8Array(b.length + 2).fill(tooMany);
  let row = new Uint8Array(b.length + 2).fill(tooMany);
  for (let j = 0; j <= Math.min(b.length, most); j++) above[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const from = Math.max(1, i - most);
    const to = Math.min(b.length, i + most);
    row[from - 1] = from === 1 ? Math.min(i, tooMany) : tooMany;
    let least = row[from - 1]!;
    for (let j = from; j <= to; j++) {
      const isSame = a.charCodeAt(i - 1) === b.charCodeAt(j - 1);
      let errors = above[j - 1]! + (isSame ? 0 : 1);
      if (above[j]! < errors) errors = above[j]! + 1;
      if (row[j - 1]! < errors) errors = row[j - 1]! + 1;
      if (!isSame && i > 1 && j > 1 && before[j - 2]! < errors && isSwapped(a, i, b, j)) {
        errors = before[j - 2]! + 1;
      }
      row[j] = errors;
      if (errors < least) least = errors;
    }
    row[to + 1] = tooMany;
    if (least > most) return tooMany;
    [before, above, row] = [above, row, before];
  }
  return Math.min(above[b.length]!, tooMany);
}

function isSwapped(a: string, i: number, b: string, j: number): boolean {
  return a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1);
}
