import { normalizeText } from '../../kernel/normalize.ts';
import { wordIn } from './tokens.ts';
import { isValueWord } from './value-words.ts';

/** Rewrites what was said, and what dictionaries hold, so that both are written alike. Linear in the text. */
export type Normalizer = (text: string) => string;

/** Marks become words of their own, or blanks; a number, a time or an address keeps its own. */
export function punctuationNormalizer(marks: string, isRemoved: boolean): Normalizer {
  const mark = new RegExp(`[${marks.replace(/[\\\]^-]/g, '\\$&')}]`, 'gu');
  const separate = (text: string) => text.replace(mark, isRemoved ? ' ' : ' $& ');
  return text =>
    text.replace(/\S+/gu, chunk => {
      const { start, end } = wordIn(chunk);
      const word = chunk.slice(start, end);
      return isValueWord(word)
        ? separate(chunk.slice(0, start)) + word + separate(chunk.slice(end))
        : separate(chunk);
    });
}

const SPECIAL: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
};

/** Letters with marks become plain ones: `Straße` is `Strasse`, `árvíz` is `arviz`. */
export const specialCharacterNormalizer: Normalizer = text =>
  normalizeText(text, 'NFC')
    .replace(/[äöüßæœøłđ]/giu, letter => {
      const plain = SPECIAL[letter.toLowerCase()]!;
      return letter === letter.toLowerCase() ? plain : plain[0]!.toUpperCase() + plain.slice(1);
    })
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .normalize('NFC');

/** What a contracted English word stands for, by its end. Whole words come first: their ends mean something else. */
const WHOLE_WORDS: Readonly<Record<string, string>> = {
  "won't": 'will not',
  "can't": 'can not',
  cannot: 'can not',
  "shan't": 'shall not',
  "ain't": 'is not',
  "let's": 'let us',
  "y'all": 'you all',
  "'tis": 'it is',
};
const ENDS: readonly (readonly [end: RegExp, words: string])[] = [
  [/n't$/i, ' not'],
  [/'re$/i, ' are'],
  [/'ve$/i, ' have'],
  [/'ll$/i, ' will'],
  [/'m$/i, ' am'],
  [/'d$/i, ' would'],
];
/** Elsewhere `'s` says whose something is. */
const IS = /^(it|that|this|what|who|where|when|why|how|there|here|he|she)'s$/i;

/** English words that were drawn together are written out: `I'm` is `I am`, `don't` is `do not`. */
export const contractedWordNormalizer: Normalizer = text =>
  text.replaceAll('’', "'").replace(/[\p{L}']+/gu, word => {
    if (!word.includes("'") && word.length !== 6) return word;
    const whole = WHOLE_WORDS[word.toLowerCase()];
    if (whole !== undefined) return whole;
    if (IS.test(word)) return `${word.slice(0, -2)} is`;
    const end = ENDS.find(([pattern]) => pattern.test(word));
    return end ? word.replace(end[0], end[1]) : word;
  });

/** Letters, digits, punctuation and signs of money and arithmetic stay; symbols such as emoji and control characters go. */
export const allowedCharacterNormalizer: Normalizer = text =>
  text.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{Sc}\p{Sm}\s]/gu, '');
