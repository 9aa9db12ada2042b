import {
  after,
  begun,
  dictionaryText,
  type Head,
  headText,
  quickReplies,
  rule,
  said,
  says,
} from './parts.ts';
import type { Field } from './plan.ts';

const YES = 'answer(yes)';

/** An agent that asks for values one after the other, keeps them and has them confirmed. */
export function formAgent(head: Head, file: string, fields: readonly Field[]): string {
  const steps = fields.map(({ name }, index) => {
    const next = fields[index + 1];
    return rule(
      `keep ${name}`,
      [`keep_${name}`, next ? `ask_${next.name}` : 'confirm'],
      [after(`ask_${name}`)],
    );
  });
  const first = `ask_${fields[0]!.name}`;
  const kept = fields.map(({ name }) => `${name}: {{ properties.${name} }}`).join(', ');
  return `${headText(head, file)}${dictionaryText([{ words: ['yes', 'right', 'ok'], meaning: YES }])}
# When to do what. Whatever is said after a question is its answer.
rules:
  behaviorGroups:
    - name: form
      rules:
        # Every conversation begins with the action CONVERSATION_START.
${rule('start', [first], [begun])}${steps.join('')}        # CONVERSATION_END ends the conversation after this answer.
${rule('confirmed', ['done', 'CONVERSATION_END'], [after('confirm'), said(YES)])}        # Anything else than yes begins again.
${rule('again', [first])}
# What to keep when an action is raised. Templates find it under properties.
property:
  setOnActions:
${fields
  .map(
    ({ name }) => `    - actions: [keep_${name}]
      setProperties:
        - { name: ${name}, valueString: "{{ input }}" }
`,
  )
  .join('')}
# What to say when an action is raised.
output:
  outputSet:
${fields.map(({ name, question }) => says(`ask_${name}`, question)).join('')}${says('confirm', `${kept}. Is that right?`)}${quickReplies(
  [
    { value: 'Yes', expressions: YES },
    { value: 'Begin again', expressions: 'answer(no)' },
  ],
)}${says('done', 'Thank you, that is noted.')}`;
}
