/** Sentence marks, brackets and quotes: not part of the word they stand beside. Signs such as `#`, `+`, `@` are. */
const AROUND_WORDS = new Set('.,;:!?…¿¡"\'()[]{}„“”‘’«»');

/** A word of the input, as written and folded for comparison. */
export interface Token {
  readonly text: string;
  readonly folded: string;
}

/** The first `max` words of a text; what is only punctuation is no word. Linear in the length of the text. */
export function tokenize(text: string, max: number): Token[] {
  const tokens: Token[] = [];
  for (const [chunk] of text.normalize('NFC').matchAll(/\S+/gu)) {
    if (tokens.length === max) break;
    let start = 0;
    let end = chunk.length;
    while (start < end && AROUND_WORDS.has(chunk[start]!)) start++;
    while (end > start && AROUND_WORDS.has(chunk[end - 1]!)) end--;
    if (start === end) continue;
    const word = chunk.slice(start, end);
    tokens.push({ text: word, folded: word.toLowerCase() });
  }
  return tokens;
}
