import type { JsonSchema } from '../../../../../connections/tool/json-schema.ts';

/** A tool of the platform's own. */
export interface BuiltInTool {
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** The result as a text. Throws a `NoResult`. Arguments are still to be looked at; `now` is in epoch ms. */
  run(args: Readonly<Record<string, unknown>>, now: number): string;
}

/** Why there is no result: a phrase for the model. */
export class NoResult extends Error {}

/** A text among arguments, of so many characters at the most. Throws a `NoResult`. */
export function textArgument(
  args: Readonly<Record<string, unknown>>,
  name: string,
  maxCharacters: number,
): string {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  if (typeof value !== 'string') throw new NoResult(`the argument "${name}" must be a text`);
  if (value.length > maxCharacters)
    throw new NoResult(`the argument "${name}" may have ${maxCharacters} characters`);
  return value;
}
