import type { DictionaryDocument } from '../../document/dictionary.ts';
import { expressionOf, parseExpressions, printExpression } from '../../language/expression.ts';
import { compileTokenPattern, type TokenPattern } from '../../language/token-pattern.ts';
import { type Token, tokenize } from '../../language/tokens.ts';
import type { QuickReply } from '../../step/step.ts';

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
}

export interface DictionaryIndex {
  /** When given, the dictionary counts only while the conversation property `lang` has this value. */
  readonly lang: string | undefined;
  readonly root: Node;
  readonly patterns: readonly { readonly pattern: TokenPattern; readonly meaning: Meaning }[];
}

const NO_LIMIT = Number.POSITIVE_INFINITY;

/** Of two entries for the same text the more frequent wins, then the first. Phrases count as frequency 0. */
export function indexDictionary({ lang, words, phrases, regExs }: DictionaryDocument): DictionaryIndex {
  const root = newNode();
  for (const { word, expressions, frequency } of words) {
    addEntry(root, tokenize(word, NO_LIMIT), readMeaning(word, expressions), frequency);
  }
  for (const { phrase, expressions } of phrases) {
    addEntry(root, tokenize(phrase, NO_LIMIT), readMeaning(phrase, expressions), 0);
  }
  const patterns = regExs.map(({ regEx, expressions }) => ({
    pattern: compileTokenPattern(regEx),
    meaning: readMeaning(regEx, expressions),
  }));
  return { lang, root, patterns };
}

/**
 * The quick replies offered in the turn before, as a dictionary whose entries win over all others of their length;
 * those without expressions are left to the other dictionaries.
 */
export function indexQuickReplies(replies: readonly QuickReply[]): DictionaryIndex {
  const root = newNode();
  for (const { value, expressions } of replies) {
    const words = tokenize(value, NO_LIMIT);
    if (expressions && words.length > 0) addEntry(root, words, readMeaning(value, expressions), NO_LIMIT);
  }
  return { lang: undefined, root, patterns: [] };
}

export interface Entry {
  /** How many words it covers. */
  readonly length: number;
  readonly meaning: Meaning;
  readonly frequency: number;
}

/** The longest entry that starts at a word. */
export function longestEntry(
  { root }: DictionaryIndex,
  tokens: readonly Token[],
  from: number,
): Entry | undefined {
  let found: Entry | undefined;
  let node: Node | undefined = root;
  for (let at = from; at < tokens.length; at++) {
    node = node.next.get(tokens[at]!.folded);
    if (node === undefined) break;
    if (node.meaning) found = { length: at + 1 - from, meaning: node.meaning, frequency: node.frequency };
  }
  return found;
}

function newNode(): Node {
  return { next: new Map(), meaning: undefined, frequency: -1 };
}

function addEntry(root: Node, words: readonly Token[], meaning: Meaning, frequency: number): void {
  let node = root;
  for (const { folded } of words) {
    let next = node.next.get(folded);
    if (next === undefined) {
      next = newNode();
      node.next.set(folded, next);
    }
    node = next;
  }
  if (frequency > node.frequency) {
    node.meaning = meaning;
    node.frequency = frequency;
  }
}

function readMeaning(text: string, expressions: string): Meaning {
  const list = parseExpressions(expressions);
  if (list === undefined) {
    return { expressions: [printExpression(expressionOf('unused', text))], intents: [], unused: true };
  }
  return { expressions: list.map(printExpression), intents: list.map(({ name }) => name), unused: false };
}
