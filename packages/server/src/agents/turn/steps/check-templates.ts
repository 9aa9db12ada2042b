import { setImmediate } from 'node:timers/promises';
import { PlatformError } from '../../../kernel/errors.ts';
import { isTemplate, templateProblem } from './template.ts';

/** Of all templates of a document together: reading them takes a second at the most. */
const MAX_TEMPLATE_CHARACTERS = 200_000;
/** How many characters of templates are read before others come first. */
const CHARACTERS_A_SLICE = 1_000;

/** A text that may be a template, where it stands, and the names it may use besides the turn's data. */
export type PlacedText = readonly [text: string, path: string, names?: readonly string[]];

/** Rejects with a `PlatformError` of kind `invalid` when a text is no template, so that no turn has to find out. */
export async function checkTemplates(subject: string, texts: Iterable<PlacedText>): Promise<void> {
  let read = 0;
  let pauseAt = CHARACTERS_A_SLICE;
  for (const [text, path, names] of texts) {
    if (!isTemplate(text)) continue;
    read += text.length;
    const problem =
      read > MAX_TEMPLATE_CHARACTERS
        ? `templates must have at most ${MAX_TEMPLATE_CHARACTERS} characters together`
        : templateProblem(text, names);
    if (problem !== undefined) {
      throw new PlatformError(
        'invalid',
        `${subject}: the template at ${path} is not valid: ${problem}. Text in double braces is a template; {% raw %} keeps it as it is.`,
        { details: { path } },
      );
    }
    if (read < pauseAt) continue;
    await setImmediate();
    pauseAt = read + CHARACTERS_A_SLICE;
  }
}
