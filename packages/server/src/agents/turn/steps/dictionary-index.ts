import type { DictionaryDocument } from '../../document/dictionary.ts';
import { expressionOf, parseExpressions, printExpression } from '../../language/expression.ts';
import type { Normalizer } from '../../language/normalizers.ts';
import { compileTokenPattern, type TokenPattern } from '../../language/token-pattern.ts';
import { type Token, tokenize } from '../../language/tokens.ts';
import { VALUE_WORDS, type ValueType } from '../../language/value-words.ts';
import { createWordList, type WordList } from '../../language/word-list.ts';
import type { QuickReply } from '../../step/step.ts';
import type { HeardWord } from './corrections.ts';

/** What a run of words means. */
export interface Meaning {
  readonly expressions: readonly string[];
  /** Names of the expressions. */
  readonly intents: readonly string[];
  /** A known word without a meaning: its one expression is `unused(...)`, and no intent. */
  readonly unused: boolean;
}

/** Entries by their words: one node a word, so that a lookup costs the length of the phrase and not of the dictionary. */
interface Node {
  readonly next: Map<string, Node>;
  meaning: Meaning | undefined;
  frequency: number;
  /** Which entry of the dictionary it is, counted from its beginning. */
  order: number;
}

export interface DictionaryIndex {
  /** When given, the dictionary counts only while the conversation property `lang` has this value. */
  readonly lang: string | undefined;
  readonly root: Node;
  readonly patterns: readonly { readonly pattern: TokenPattern; readonly meaning: Meaning }[];
  /** What any word means that is a value. */
  readonly readValue?: (word: string) => Meaning | undefined;
  /** All words of the entries, for corrections. */
  readonly words: WordList | undefined;
}

/** How a parser reads the texts of its dictionaries. */
export interface Reading {
  readonly normalize: Normalizer;
  /** Are words corrected, so that the entries' words must be found by what is nearly one? */
  readonly corrects: boolean;
}

const NO_LIMIT = Number.POSITIVE_INFINITY;

/** Of two entries for the same text the more frequent wins, then the first. Phrases count as frequency 0. */
export function indexDictionary(
  { lang, words, phrases, regExs }: DictionaryDocument,
  reading: Reading,
): DictionaryIndex {
  const entries = [
    ...words.map(({ word, expressions, frequency }) => ({ text: word, expressions, frequency })),
    ...phrases.map(({ phrase, expressions }) => ({ text: phrase, expressions, frequency: 0 })),
  ];
  const patterns = regExs.map(({ regEx, expressions }) => ({
    pattern: compileTokenPattern(regEx),
    meaning: readMeaning(regEx, expressions),
  }));
  return { lang, ...indexEntries(entries, reading), patterns };
}

/** A dictionary of values, as they are built in. */
export function indexValues(type: ValueType): DictionaryIndex {
  const { expression, read } = VALUE_WORDS[type];
  return {
    lang: undefined,
    root: newNode(),
    patterns: [],
    words: undefined,
    readValue(word) {
      const value = read(word);
      return value === undefined
        ? undefined
        : { expressions: [`${expression}(${value})`], intents: [expression], unused: false };
    },
  };
}

/**
 * The quick replies offered in the turn before, as a dictionary whose entries win over all others of their length;
 * those without expressions are left to the other dictionaries.
 */
export function indexQuickReplies(replies: readonly QuickReply[], reading: Reading): DictionaryIndex {
  const entries = replies.flatMap(({ value, expressions }) =>
    expressions ? [{ text: value, expressions, frequency: NO_LIMIT }] : [],
  );
  return { lang: undefined, ...indexEntries(entries, reading), patterns: [] };
}

export interface Entry {
  /** How many words it covers. */
  readonly length: number;
  readonly meaning: Meaning;
  readonly frequency: number;
  /** How far what was said is from it, all words together. */
  readonly cost: number;
  readonly order: number;
}

/**
 * More than 0 when the first entry wins over the second: the longer one does, then the nearer to what was said, then the more
 * frequent.
 */
export function compareEntries(a: Entry, b: Entry): number {
  return a.length - b.length || b.cost - a.cost || a.frequency - b.frequency;
}

/** The best entry that starts at a word. Visits each node below the root once at the most, and tells `charge` before. */
export function bestEntryAt(
  { root }: DictionaryIndex,
  words: readonly HeardWord[],
  from: number,
  charge: (steps: number) => void,
): Entry | undefined {
  let found: Entry | undefined;
  const waiting: { readonly node: Node; readonly at: number; readonly cost: number }[] = [];
  let node: Node | undefined = root;
  let at = from;
  let cost = 0;
  for (;;) {
    if (node.meaning) {
      const { meaning, frequency, order } = node;
      const entry = { length: at - from, meaning, frequency, order, cost };
      if (found === undefined || (compareEntries(entry, found) || found.order - order) > 0) found = entry;
    }
    const word = words[at];
    if (word?.readings) {
      charge(word.readings.length);
      for (const reading of word.readings) {
        const next = node.next.get(reading.folded);
        if (next) waiting.push({ node: next, at: at + 1, cost: cost + reading.cost });
      }
    }
    node = word && node.next.get(word.folded);
    at++;
    if (node) continue;
    const other = waiting.pop();
    if (other === undefined) return found;
    ({ node, at, cost } = other);
  }
}

interface EntryText {
  readonly text: string;
  readonly expressions: string;
  readonly frequency: number;
}

function indexEntries(
  entries: readonly EntryText[],
  { normalize, corrects }: Reading,
): Pick<DictionaryIndex, 'root' | 'words'> {
  const root = newNode();
  const known = new Set<string>();
  for (const [order, { text, expressions, frequency }] of entries.entries()) {
    const words = tokenize(normalize(text), NO_LIMIT);
    if (words.length === 0) continue;
    addEntry(root, words, { meaning: readMeaning(text, expressions), frequency, order });
    if (corrects) for (const { folded } of words) known.add(folded);
  }
  return { root, words: corrects ? createWordList(known) : undefined };
}

function newNode(): Node {
  return { next: new Map(), meaning: undefined, frequency: -1, order: -1 };
}

function addEntry(
  root: Node,
  words: readonly Token[],
  entry: Pick<Entry, 'meaning' | 'frequency' | 'order'>,
): void {
  let node = root;
  for (const { folded } of words) {
    let next = node.next.get(folded);
    if (next === undefined) {
      next = newNode();
      node.next.set(folded, next);
    }
    node = next;
  }
  if (entry.frequency > node.frequency) Object.assign(node, entry);
}

function readMeaning(text: string, expressions: string): Meaning {
  const list = parseExpressions(expressions);
  if (list === undefined) {
    return { expressions: [printExpression(expressionOf('unused', text))], intents: [], unused: true };
  }
  return { expressions: list.map(printExpression), intents: list.map(({ name }) => name), unused: false };
}
