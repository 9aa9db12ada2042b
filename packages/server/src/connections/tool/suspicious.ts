import { INSTRUCTION, ROLE_MARK, TERMINAL_SEQUENCE } from './directive-text.ts';
import { withoutHidden } from './hidden-text.ts';

/** What makes a text suspicious: a sign for people and models to be careful, never a reason to believe one without it. */
export type Suspicion = 'hidden_text' | 'instructions' | 'role_marks' | 'terminal_escapes';

/** Escapes that steer a terminal, also as JSON writes them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const TERMINAL_ESCAPE = /[\u001b\u009b]|\\u00[19]b/i;

/**
 * Characters nobody sees, where no script and no emoji has them: tags besides those of a flag, turned directions, several zero-width ones in
 * a row, and selectors of variants that follow one another or no Chinese character.
 */
const HIDDEN_TEXT =
  /(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]{0,8})[\u{e0001}-\u{e007f}]|[\u202a-\u202e\u2066-\u2069]|[\u200b-\u200d\u2060-\u2064\ufeff]{3}|[\ufe00-\ufe0f]{2}|(?<!\p{Script=Han})[\u{e0100}-\u{e01ef}]/u;

/** Is there something in it that nobody sees, and that no script and no emoji needs? */
export function hidesText(text: string): boolean {
  return HIDDEN_TEXT.test(text);
}

/**
 * Looks for what a result should not hold: phrases such as "ignore previous instructions", marks of roles, escapes of terminals, text
 * that nobody sees (A-168, attack 38). Takes plain text and JSON, and time linear to it.
 */
export function suspicionsIn(text: string): readonly Suspicion[] {
  const hidden = hidesText(text);
  const plain = text.replace(TERMINAL_SEQUENCE, '');
  const seen = hidden ? withoutHidden(plain) : plain;
  const found: Suspicion[] = [];
  if (hidden) found.push('hidden_text');
  if (seen.search(INSTRUCTION) >= 0) found.push('instructions');
  if (seen.search(ROLE_MARK) >= 0) found.push('role_marks');
  if (TERMINAL_ESCAPE.test(text)) found.push('terminal_escapes');
  return found;
}

/** The same for everything that a server says of one of its tools: what a model reads before it calls anything. */
export function suspicionsInTool(tool: {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: object;
}): readonly Suspicion[] {
  const { title = '', description = '', inputSchema } = tool;
  return suspicionsIn(`${title}\n${description}\n${JSON.stringify(inputSchema)}`);
}
