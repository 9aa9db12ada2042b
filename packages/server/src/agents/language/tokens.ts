import { normalizeText } from '../../kernel/normalize.ts';

/** Sentence marks, brackets and quotes: not part of the word they stand beside. Signs such as `#`, `+`, `@` are. */
const AROUND_WORDS = new Set('.,;:!?…¿¡"\'()[]{}„“”‘’«»');

/** A word of the input, as written and folded for comparison. */
export interface Token {
  readonly text: string;
  readonly folded: string;
  /** The marks between the word before and this one. */
  readonly before: string;
}

/** Words with the marks that follow the last of them. */
export interface Words {
  readonly tokens: readonly Token[];
  readonly after: string;
}

/** The first `max` words of a text; what is only punctuation is no word. Linear in the length of the text. */
export function readWords(text: string, max: number): Words {
  const tokens: Token[] = [];
  let marks = '';
  for (const [chunk] of normalizeText(text, 'NFC').matchAll(/\S+/gu)) {
    const { start, end } = wordIn(chunk);
    marks += chunk.slice(0, start);
    if (start === end) continue;
    if (tokens.length === max) break;
    const word = chunk.slice(start, end);
    tokens.push(tokenOf(word, marks));
    marks = chunk.slice(end);
  }
  return { tokens, after: marks };
}

/** As `readWords`, without the marks after the last. */
export function tokenize(text: string, max: number): readonly Token[] {
  return readWords(text, max).tokens;
}

export function tokenOf(word: string, before: string): Token {
  return { text: word, folded: word.toLowerCase(), before };
}

/** Where in a text without blanks the word is that marks stand around; nowhere in what is only marks. */
export function wordIn(chunk: string): { readonly start: number; readonly end: number } {
  let start = 0;
  let end = chunk.length;
  while (start < end && AROUND_WORDS.has(chunk[start]!)) start++;
  while (end > start && AROUND_WORDS.has(chunk[end - 1]!)) end--;
  return start === end ? { start: chunk.length, end: chunk.length } : { start, end };
}
