import type { DictionaryDocument } from '../document/dictionary.ts';
import {
  type Expression,
  matchesExpression,
  parseExpressions,
  printExpression,
} from '../language/expression.ts';
import { type Finding, type Look, quoted, warning } from './finding.ts';
import { documentsOf, type LintedAgent, placeIn } from './linted-agent.ts';
import { conditionsOf } from './nested-conditions.ts';
import { templatesRead } from './raised-actions.ts';

const MAX_SHOWN = 5;

/** Words are compared with patterns; a large agent is looked at as far as this. */
const MAX_COMPARISONS = 500_000;

/** What people can say, and no rule asks for. */
export function* unaskedWords(agent: LintedAgent): Generator<Look> {
  const rules = documentsOf(agent, 'rules');
  const usedOtherwise =
    rules.some(({ body }) => body.expressionsAsActions) || templatesRead(agent, 'expressions|intents');
  if (usedOtherwise) return;
  const asked = askedFor(agent);
  let comparisons = 0;
  for (const document of documentsOf(agent, 'dictionary')) {
    for (const [meaning, words] of wordsByMeaning(document.body)) {
      // What means nothing is known so that it is not unknown.
      const said = parseExpressions(meaning) ?? [];
      if (said.length === 0) continue;
      yield undefined;
      comparisons += asked.cost * said.length;
      if (comparisons > MAX_COMPARISONS) {
        yield warning({
          code: 'not-looked-at',
          place: placeIn(document, shownWords(words)),
          says: 'There are so many words and conditions that not all were compared.',
          mend: 'Split the dictionary or the rules.',
        });
        return;
      }
      if (said.some(asked.has)) continue;
      yield warning({
        code: 'unasked-word',
        place: placeIn(document, shownWords(words)),
        says: `No rule asks for ${quoted(meaning)}, which they mean.`,
        mend: 'Ask for it in an inputmatcher, or remove the entries.',
      });
    }
  }
}

function shownWords(words: readonly string[]): string {
  const more = words.length > MAX_SHOWN ? ` and ${words.length - MAX_SHOWN} more` : '';
  return `${words.slice(0, MAX_SHOWN).map(quoted).join(', ')}${more}`;
}

/** What the conditions of all rules ask for, and how many comparisons it takes to know. */
function askedFor(agent: LintedAgent): { readonly cost: number; has(said: Expression): boolean } {
  const setsProperties = documentsOf(agent, 'property').length > 0;
  const plain = new Set<string>();
  const open = new Map<string, Expression>();
  for (const { body } of documentsOf(agent, 'rules')) {
    for (const condition of conditionsOf(body)) {
      if (condition.type !== 'inputmatcher') continue;
      for (const pattern of parseExpressions(condition.configs.expressions) ?? []) {
        const text = printExpression(pattern);
        if (text.includes('*')) open.set(text, pattern);
        else plain.add(text);
      }
    }
  }
  const patterns = [...open.values()];
  return {
    cost: 1 + patterns.length,
    has: said =>
      plain.has(printExpression(said)) ||
      (setsProperties && said.name === 'property') ||
      patterns.some(pattern => matchesExpression(pattern, said)),
  };
}

function wordsByMeaning({ words, phrases, regExs }: DictionaryDocument): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const add = (expressions: string, text: string) => {
    const list = found.get(expressions);
    if (list) list.push(text);
    else found.set(expressions, [text]);
  };
  for (const { word, expressions } of words) add(expressions, word);
  for (const { phrase, expressions } of phrases) add(expressions, phrase);
  for (const { regEx, expressions } of regExs) add(expressions, regEx);
  return found;
}

/** Of quick replies that are offered together, those that an earlier one makes useless. */
export function* shadowedQuickReplies(agent: LintedAgent): Generator<Finding> {
  for (const document of documentsOf(agent, 'output')) {
    for (const { action, quickReplies } of document.body.outputSet) {
      const values = new Map<string, string>();
      const meanings = new Map<string, string>();
      for (const { value, expressions } of quickReplies) {
        const place = placeIn(document, `action ${quoted(action)}`, `quick reply ${quoted(value)}`);
        const read = value.trim().toLowerCase();
        const meaning = expressions && (parseExpressions(expressions) ?? []).map(printExpression).join(', ');
        const twin = meaning && meanings.get(meaning);
        if (values.has(read)) {
          yield warning({
            code: 'shadowed-quick-reply',
            place,
            says: `It is never understood as its own: ${quoted(values.get(read)!)} before it reads the same.`,
            mend: 'Word it otherwise, or remove it.',
          });
        } else if (twin) {
          yield warning({
            code: 'shadowed-quick-reply',
            place,
            says: `It means the same as ${quoted(twin)} before it.`,
            mend: 'Give it a meaning of its own, or remove it.',
          });
        }
        if (!values.has(read)) values.set(read, value);
        if (meaning && !meanings.has(meaning)) meanings.set(meaning, value);
      }
    }
  }
}
