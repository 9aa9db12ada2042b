import type { DictionaryDocument } from '../document/dictionary.ts';
import {
  type Expression,
  matchesExpression,
  parseExpressions,
  printExpression,
} from '../language/expression.ts';
import { type Finding, quoted, warning } from './finding.ts';
import { documentsOf, type LintedAgent, placeIn } from './linted-agent.ts';
import { conditionsOf } from './nested-conditions.ts';
import { templatesRead } from './raised-actions.ts';

const MAX_SHOWN = 5;

/** What people can say, and no rule asks for. */
export function* unaskedWords(agent: LintedAgent): Generator<Finding> {
  const rules = documentsOf(agent, 'rules');
  const usedOtherwise =
    rules.some(({ body }) => body.expressionsAsActions) || templatesRead(agent, 'expressions|intents');
  if (usedOtherwise) return;
  const patterns = rules.flatMap(({ body }) => [...conditionsOf(body)].flatMap(patternsOf));
  const setsProperties = documentsOf(agent, 'property').length > 0;
  const isAsked = (said: Expression) =>
    (setsProperties && said.name === 'property') ||
    patterns.some(pattern => matchesExpression(pattern, said));
  for (const document of documentsOf(agent, 'dictionary')) {
    for (const [meaning, words] of wordsByMeaning(document.body)) {
      // What means nothing is known so that it is not unknown.
      const said = parseExpressions(meaning) ?? [];
      if (said.length === 0 || said.some(isAsked)) continue;
      const more = words.length > MAX_SHOWN ? ` and ${words.length - MAX_SHOWN} more` : '';
      yield warning({
        code: 'unasked-word',
        place: placeIn(document, `${words.slice(0, MAX_SHOWN).map(quoted).join(', ')}${more}`),
        says: `No rule asks for ${quoted(meaning)}, which they mean.`,
        mend: 'Ask for it in an inputmatcher, or remove the entries.',
      });
    }
  }
}

function patternsOf(condition: ReturnType<typeof conditionsOf> extends Generator<infer C> ? C : never) {
  return condition.type === 'inputmatcher' ? (parseExpressions(condition.configs.expressions) ?? []) : [];
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
