import type { Question } from './plan.ts';

/** What every agent file begins with. */
export interface Head {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly mcpEnabled: boolean;
}

/** A text as YAML, whatever is in it. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

export function headText({ id, name, description, mcpEnabled }: Head, file: string): string {
  return `# Made by \`npx patchbay agents new\`. Change it, then:
#
#   npx patchbay agents lint ${file}
#   npx patchbay agents deploy ${file}
#   npx patchbay chat ${id}
#
# The docs page agent-files tells about every member.

agent: ${id}
name: ${quoted(name)}
description: ${quoted(description)}
# May MCP clients with a key talk to it at its own address?
mcp_enabled: ${mcpEnabled}
`;
}

/** One bubble that says one text. */
export function says(action: string, text: string): string {
  return `    - action: ${action}
      outputs:
        - valueAlternatives:
            - { type: text, text: ${quoted(text)} }
`;
}

export function quickReplies(
  replies: readonly { readonly value: string; readonly expressions: string }[],
): string {
  const lines = replies.map(
    ({ value, expressions }) =>
      `        - { value: ${quoted(value)}, expressions: ${quoted(expressions)} }\n`,
  );
  return `      quickReplies:\n${lines.join('')}`;
}

/** A rule; each condition is written in one line. */
export function rule(name: string, actions: readonly string[], conditions: readonly string[] = []): string {
  const lines = conditions.map(condition => `            - ${condition}\n`).join('');
  return `        - name: ${quoted(name)}
          actions: [${actions.join(', ')}]
${lines === '' ? '' : `          conditions:\n${lines}`}`;
}

export const said = (expressions: string) =>
  `{ type: inputmatcher, configs: { expressions: ${quoted(expressions)} } }`;
export const begun = '{ type: actionmatcher, configs: { actions: CONVERSATION_START } }';
/** The action was raised in the turn before. */
export const after = (action: string) =>
  `{ type: actionmatcher, configs: { actions: ${action}, occurrence: lastStep } }`;

/** Entries of a dictionary: what has blanks is a phrase. */
export function dictionaryText(questions: readonly Pick<Question, 'words' | 'meaning'>[]): string {
  const entries = questions.flatMap(({ words, meaning }) => words.map(word => ({ word, meaning })));
  const listed = (kind: 'word' | 'phrase', title: string) => {
    const lines = entries
      .filter(({ word }) => /\s/.test(word) === (kind === 'phrase'))
      .map(({ word, meaning }) => `    - { ${kind}: ${quoted(word)}, expressions: ${quoted(meaning)} }\n`);
    return lines.length === 0 ? '' : `  ${title}:\n${lines.join('')}`;
  };
  return `
# What people say, and what it means. Words of no dictionary become unknown(word).
dictionary:
${listed('word', 'words')}${listed('phrase', 'phrases')}
# How what is said is read: a word may have one typing error.
parser:
  corrections:
    - { type: levenshtein, config: { distance: 1 } }
`;
}
