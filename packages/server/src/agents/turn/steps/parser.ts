import { parseDocumentUri } from '@patchbay/contract/ids';
import { dictionaryDocument } from '../../document/dictionary.ts';
import { parseStored } from '../../document/parse-document.ts';
import { type NormalizerDocument, PARSER_SHAPE } from '../../document/parser.ts';
import { countNames, expressionOf, parseExpressions, printExpression } from '../../language/expression.ts';
import {
  allowedCharacterNormalizer,
  contractedWordNormalizer,
  type Normalizer,
  punctuationNormalizer,
  specialCharacterNormalizer,
} from '../../language/normalizers.ts';
import { readWords, type Token } from '../../language/tokens.ts';
import { markExpressions } from '../../language/value-words.ts';
import type { LoadDocument, StepResult, StepType, TurnBudget, TurnMemory } from '../../step/step.ts';
import { type Correct, compileCorrections, type HeardWord } from './corrections.ts';
import {
  bestEntryAt,
  compareEntries,
  type DictionaryIndex,
  type Entry,
  indexDictionary,
  indexQuickReplies,
  indexValues,
  type Meaning,
  type Reading,
} from './dictionary-index.ts';
import { inSlices, type Sliced } from './in-slices.ts';
import { parseStep } from './step-config.ts';

/** How many characters are normalized or split into words in a step of work. */
const CHARACTERS_A_STEP = 20;

/** What stands between blanks is not always a word. */
const CHUNKS_A_WORD = 3;

/**
 * Turns what the person said into expressions and intents. Every word is covered once, from left to right, by the
 * longest entry that starts there; of equally long ones that of the quick replies of the turn before, then the nearer to what was
 * said, then the more frequent, then that of the dictionary listed first. A word in no entry is tried on the regular
 * expressions and built-in dictionaries in order, then corrected, and else is unknown. Then comes what the context says in
 * expressions. The intents are the names of the expressions found, each once, without `unknown` and `unused`.
 */
export const parserStep: StepType = {
  type: 'parser',
  async compile(step, load) {
    const { config, extensions } = parseStep(step, PARSER_SHAPE);
    const correct = compileCorrections(extensions.corrections);
    const normalize = compileNormalizers(extensions.normalizer);
    const reading: Reading = { normalize, corrects: correct !== undefined };
    const hasMarks = extensions.dictionaries.some(({ type }) => type === 'punctuation');
    const dictionaries = await indexAll(extensions.dictionaries, reading, load);

    function* parse(memory: TurnMemory, budget: TurnBudget): Sliced<StepResult> {
      const expressions = config.appendExpressions ? [...memory.expressions] : [];
      const intents = new Set(config.appendExpressions ? memory.intents : []);
      // Words of a secret would be kept with the conversation.
      const said = memory.inputIsSecret ? '' : (memory.input ?? '');
      budget.work(said.length / CHARACTERS_A_STEP);
      const heard = readWords(normalize(firstChunks(said, config.maxInputTokens)), config.maxInputTokens);
      const active = activeDictionaries(dictionaries, memory, reading, budget);
      const words = correct ? yield* correctAll(heard.tokens, active, correct, config, budget) : heard.tokens;
      let marksLeft = hasMarks ? config.maxInputTokens : 0;
      const addMarks = (text: string) => {
        if (marksLeft === 0 || text === '') return;
        const marks = markExpressions(text, marksLeft);
        marksLeft -= marks.length;
        budget.work(text.length / CHARACTERS_A_STEP + marks.length);
        expressions.push(...marks);
        if (marks.length > 0) intents.add('punctuation');
      };
      for (let at = 0; at < words.length; ) {
        const word = words[at]!;
        budget.work(1 + active.length);
        if (budget.sliceIsOver) yield;
        const entry = bestEntry(active, words, at, budget);
        const meaning = entry?.meaning ?? (yield* meaningOf(active, word, budget));
        addMarks(word.before);
        if (meaning === undefined) {
          if (config.includeUnknown) expressions.push(printExpression(expressionOf('unknown', word.text)));
        } else if (config.includeUnused || !meaning.unused) {
          expressions.push(...meaning.expressions);
          for (const intent of meaning.intents) intents.add(intent);
        }
        const end = at + (entry?.length ?? 1);
        for (at++; at < end; at++) addMarks(words[at]!.before);
      }
      addMarks(heard.after);
      for (const { name, text } of contextExpressions(memory, budget)) {
        expressions.push(text);
        intents.add(name);
      }
      memory.expressions = expressions;
      memory.intents = [...intents];
      return 'continue';
    }

    return { run: (memory, { budget }) => inSlices(parse(memory, budget), budget) };
  },
};

type ParserExtensions = ReturnType<typeof parseStep<typeof PARSER_SHAPE>>['extensions'];

function indexAll(
  dictionaries: ParserExtensions['dictionaries'],
  reading: Reading,
  load: LoadDocument,
): Promise<readonly DictionaryIndex[]> {
  return Promise.all(
    dictionaries.flatMap((dictionary): (DictionaryIndex | Promise<DictionaryIndex>)[] => {
      switch (dictionary.type) {
        case 'regular':
          return [indexStored(dictionary.config.uri, reading, load)];
        case 'punctuation':
          // Its marks stand around words and are read with them.
          return [];
        default:
          return [indexValues(dictionary.type)];
      }
    }),
  );
}

async function indexStored(uri: string, reading: Reading, load: LoadDocument): Promise<DictionaryIndex> {
  return indexDictionary(parseStored(dictionaryDocument, await load(parseDocumentUri(uri)!)), reading);
}

/** So much of a text as can hold the words that are looked at, so that a long one is not rewritten for nothing. */
function firstChunks(text: string, maxWords: number): string {
  let left = CHUNKS_A_WORD * maxWords;
  for (const { index } of text.matchAll(/\s+/gu)) {
    if (left-- === 0) return text.slice(0, index);
  }
  return text;
}

function compileNormalizers(normalizers: readonly NormalizerDocument[]): Normalizer {
  const each = normalizers.map(compileNormalizer);
  return text => each.reduce((rewritten, normalize) => normalize(rewritten), text);
}

function compileNormalizer(normalizer: NormalizerDocument): Normalizer {
  switch (normalizer.type) {
    case 'punctuation': {
      const { punctuationRegexPattern, removePunctuation } = normalizer.config;
      return punctuationNormalizer(punctuationRegexPattern, removePunctuation);
    }
    case 'specialCharacter':
      return specialCharacterNormalizer;
    case 'contractedWords':
      return contractedWordNormalizer;
    case 'allowedCharacter':
      return allowedCharacterNormalizer;
  }
}

/** The words with readings, and parts in place of what was drawn together, where no dictionary knows a word. */
function* correctAll(
  words: readonly Token[],
  active: readonly DictionaryIndex[],
  correct: Correct,
  limits: { readonly maxSuggestions: number; readonly maxSolutions: number },
  budget: TurnBudget,
): Sliced<readonly HeardWord[]> {
  const known = active.flatMap(({ words: list }) => list ?? []);
  const corrected: HeardWord[] = [];
  let left = limits.maxSuggestions;
  for (const word of words) {
    const isKnown = left === 0 || known.some(list => list.has(word.folded));
    if (isKnown || (yield* meaningOf(active, word, budget)) !== undefined) {
      corrected.push(word);
      continue;
    }
    const heard = yield* correct(word, known, Math.min(left, limits.maxSolutions), budget);
    left -= heard.reduce((sum, { readings }) => sum + (readings?.length ?? 0), 0);
    corrected.push(...(heard.length > 0 ? heard : [word]));
    if (budget.sliceIsOver) yield;
  }
  return corrected;
}

/** What the caller says it means, in values of the context of type `expressions`. */
function contextExpressions(memory: TurnMemory, budget: TurnBudget): { name: string; text: string }[] {
  const found: { name: string; text: string }[] = [];
  for (const [key, type] of Object.entries(memory.contextTypes)) {
    if (type !== 'expressions') continue;
    const expressions = parseExpressions(String(memory.context[key])) ?? [];
    budget.work(1 + countNames(expressions));
    for (const expression of expressions) {
      found.push({ name: expression.name, text: printExpression(expression) });
    }
  }
  return found;
}

const DEFAULT_LANG = 'en';

function activeDictionaries(
  dictionaries: readonly DictionaryIndex[],
  memory: TurnMemory,
  reading: Reading,
  budget: TurnBudget,
): readonly DictionaryIndex[] {
  const lang = memory.properties.lang ?? DEFAULT_LANG;
  const active = dictionaries.filter(dictionary => dictionary.lang === undefined || dictionary.lang === lang);
  const replies = memory.last?.quickReplies ?? [];
  if (replies.length === 0) return active;
  budget.work(replies.reduce((sum, { value }) => sum + value.length, 0) / CHARACTERS_A_STEP);
  return [indexQuickReplies(replies, reading), ...active];
}

function bestEntry(
  dictionaries: readonly DictionaryIndex[],
  words: readonly HeardWord[],
  at: number,
  { work }: TurnBudget,
): Entry | undefined {
  let best: Entry | undefined;
  for (const dictionary of dictionaries) {
    const entry = bestEntryAt(dictionary, words, at, work);
    if (entry && (best === undefined || compareEntries(entry, best) > 0)) best = entry;
  }
  return best;
}

/** What a word no entry knows means by its form. */
function* meaningOf(
  dictionaries: readonly DictionaryIndex[],
  word: Token,
  budget: TurnBudget,
): Sliced<Meaning | undefined> {
  for (const { patterns, readValue } of dictionaries) {
    const value = readValue?.(word.text);
    if (value) return value;
    for (const { pattern, meaning } of patterns) {
      if (pattern.matches(word.folded, budget.work)) return meaning;
      if (budget.sliceIsOver) yield;
    }
  }
  return undefined;
}
