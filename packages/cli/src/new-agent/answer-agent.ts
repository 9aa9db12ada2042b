import { begun, dictionaryText, type Head, headText, quickReplies, rule, said, says } from './parts.ts';
import type { Question } from './plan.ts';

const MAX_OFFERED = 5;

/** An agent that answers questions. */
export function answerAgent(head: Head, file: string, questions: readonly Question[]): string {
  const offered = quickReplies(
    questions.slice(0, MAX_OFFERED).map(({ words, meaning }) => ({ value: words[0]!, expressions: meaning })),
  );
  const topics = questions.map(({ words }) => words[0]).join(', ');
  return `${headText(head, file)}${dictionaryText(questions)}
# When to do what. The first rule whose conditions hold wins, so put what is special in front of what is general.
rules:
  behaviorGroups:
    - name: answers
      rules:
        # Every conversation begins with the action CONVERSATION_START.
${rule('start', ['greet'], [begun])}${questions.map(({ meaning, action }) => rule(meaning, [action], [said(meaning)])).join('')}        # No conditions: holds whenever no rule above did.
${rule('otherwise', ['help'])}
# What to say when an action is raised.
output:
  outputSet:
${says('greet', 'Hello! What would you like to know?')}${offered}${questions.map(({ action, answer }) => says(action, answer)).join('')}${says('help', `I know about: ${topics}.`)}${offered}`;
}
