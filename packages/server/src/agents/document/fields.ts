import { z } from 'zod';
import { parseExpressions } from '../language/expression.ts';

// A turn looks through all that a document holds, and the process serves others meanwhile: see docs/agent-files.md.
export const MAX_LIST_CHARACTERS = 1_000;
export const MAX_LIST_NAMES = 20;

/** A list of at most so many entries. */
export function listOf<T extends z.ZodType>(entry: T, max: number) {
  return z.array(entry).max(max, tooMany(max, 'entries'));
}

/** The problem of a list that is too long, as a phrase. */
export function tooMany(max: number, what: string): string {
  return `must have at most ${max} ${what}`;
}

/** A document of which EDDI has called some fields otherwise: they are taken under either name, and kept under ours. */
export function withOldNames<T extends z.ZodType>(body: T, ours: Readonly<Record<string, string>>) {
  return z.preprocess(value => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => {
        const own = ours[name];
        return [own !== undefined && !Object.hasOwn(value, own) ? own : name, member];
      }),
    );
  }, body);
}

/** Names that are counted by name: `__proto__` would not be kept by a plain object. */
export const nameField = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(200, 'must have at most 200 characters')
  .refine(name => name !== '__proto__', 'is reserved; choose another name');

/** An action as a rule raises it and an output waits for it. */
export const actionField = nameField.refine(
  name => !/[(),*]/.test(name),
  'must be one action: a name without "(", ")", "," and "*"',
);

/** A comma list of expressions; what a dictionary or quick reply means. */
export const expressionsField = z
  .string()
  .max(MAX_LIST_CHARACTERS, tooMany(MAX_LIST_CHARACTERS, 'characters'))
  .superRefine((text, context) => {
    const list = parseExpressions(text);
    if (list === undefined) {
      context.addIssue('must be a comma list of expressions such as "greeting(hello), polite"');
    } else if (list.length > MAX_LIST_NAMES) {
      context.addIssue(tooMany(MAX_LIST_NAMES, 'expressions'));
    }
  });
