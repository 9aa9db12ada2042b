import { z } from 'zod';
import { dictionaryDocument } from '../../document/dictionary.ts';
import { listOf } from '../../document/fields.ts';
import { parseStored } from '../../document/parse-document.ts';
import { countNames, expressionOf, parseExpressions, printExpression } from '../../language/expression.ts';
import { type Token, tokenize } from '../../language/tokens.ts';
import type { StepResult, StepType, TurnBudget, TurnMemory } from '../../step/step.ts';
import {
  type DictionaryIndex,
  type Entry,
  indexDictionary,
  indexQuickReplies,
  longestEntry,
  type Meaning,
} from './dictionary-index.ts';
import { inSlices, type Sliced } from './in-slices.ts';
import { documentUri, parseStep } from './step-config.ts';

const MAX_DICTIONARIES = 20;

const shape = {
  config: z
    .strictObject({
      /** Words no dictionary knows give `unknown(word)`. */
      includeUnknown: z.boolean().default(true),
      /** Words a dictionary knows without a meaning give `unused(word)`. */
      includeUnused: z.boolean().default(true),
      /** Keep the expressions an earlier workflow of this turn found. */
      appendExpressions: z.boolean().default(true),
      /** Words after these are not looked at. */
      maxInputTokens: z.int().min(1).max(10_000).default(200),
    })
    .prefault({}),
  extensions: z
    .strictObject({
      dictionaries: listOf(
        z.strictObject({
          type: z.literal('regular', 'must be "regular", the only kind of dictionary supported'),
          config: z.strictObject({ uri: documentUri('dictionary') }),
        }),
        MAX_DICTIONARIES,
      ).default([]),
    })
    .prefault({}),
};

/**
 * Turns what the person said into expressions and intents. Every word is covered once, from left to right, by the
 * longest entry that starts there; of equally long ones that of the quick replies of the turn before, then the more
 * frequent, then that of the dictionary listed first. A word in no entry is tried on the regular expressions in order,
 * and else is unknown. Then comes what the context says in expressions. The intents are the names of the expressions found, each once, without `unknown` and `unused`.
 */
export const parserStep: StepType = {
  type: 'parser',
  async compile(step, load) {
    const { config, extensions } = parseStep(step, shape);
    const dictionaries = await Promise.all(
      extensions.dictionaries.map(async ({ config: { uri } }) =>
        indexDictionary(parseStored(dictionaryDocument, await load(uri))),
      ),
    );
    function* parse(memory: TurnMemory, budget: TurnBudget): Sliced<StepResult> {
      const expressions = config.appendExpressions ? [...memory.expressions] : [];
      const intents = new Set(config.appendExpressions ? memory.intents : []);
      // Words of a secret would be kept with the conversation.
      const said = memory.secretInput === undefined ? (memory.input ?? '') : '';
      const tokens = tokenize(said, config.maxInputTokens);
      const active = activeDictionaries(dictionaries, memory);
      for (let at = 0; at < tokens.length; ) {
        const token = tokens[at]!;
        budget.work(1 + active.length);
        if (budget.sliceIsOver) yield;
        const entry = bestEntry(active, tokens, at);
        at += entry?.length ?? 1;
        const meaning = entry?.meaning ?? (yield* patternMeaning(active, token, budget));
        if (meaning === undefined) {
          if (config.includeUnknown) expressions.push(printExpression(expressionOf('unknown', token.text)));
        } else if (config.includeUnused || !meaning.unused) {
          expressions.push(...meaning.expressions);
          for (const intent of meaning.intents) intents.add(intent);
        }
      }
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
): readonly DictionaryIndex[] {
  const lang = memory.properties.lang ?? DEFAULT_LANG;
  const active = dictionaries.filter(dictionary => dictionary.lang === undefined || dictionary.lang === lang);
  const replies = memory.last?.quickReplies ?? [];
  return replies.length === 0 ? active : [indexQuickReplies(replies), ...active];
}

function bestEntry(
  dictionaries: readonly DictionaryIndex[],
  tokens: readonly Token[],
  at: number,
): Entry | undefined {
  let best: Entry | undefined;
  for (const dictionary of dictionaries) {
    const entry = longestEntry(dictionary, tokens, at);
    if (entry && (best === undefined || isBetter(entry, best))) best = entry;
  }
  return best;
}

function isBetter(entry: Entry, than: Entry): boolean {
  return entry.length > than.length || (entry.length === than.length && entry.frequency > than.frequency);
}

function* patternMeaning(
  dictionaries: readonly DictionaryIndex[],
  token: Token,
  budget: TurnBudget,
): Sliced<Meaning | undefined> {
  for (const { patterns } of dictionaries) {
    for (const { pattern, meaning } of patterns) {
      if (pattern.matches(token.folded, budget.work)) return meaning;
      if (budget.sliceIsOver) yield;
    }
  }
  return undefined;
}
