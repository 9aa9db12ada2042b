import { z } from 'zod';
import { closestName } from '../../kernel/closest-name.ts';

/** Says what is wrong with an option, as a phrase after its name. */
export type Say = (option: string, problem: string) => void;
export type Values = Record<string, unknown>;

/** There are fewer options, so one of so many is unknown already. */
const MAX_LOOKED_AT = 200;
/** Members of an object whose names are free. */
export const MAX_MEMBERS = 100;

export const trueOrFalse = z.boolean('must be true or false');

export function text(max: number) {
  return z
    .string('must be a text')
    .min(1, 'must not be empty')
    .max(max, `must have at most ${max} characters`);
}

export function choice<const T extends readonly string[]>(...words: T) {
  return z.enum(words, `must be ${words.map(word => `"${word}"`).join(' or ')}`);
}

/** The members under our names of them: `max_result_bytes` becomes `maxResultBytes`. */
export function withOwnNames(value: Values, names: readonly string[], place: string, say: Say): Values {
  const ownName = new Map(names.map(name => [snakeCase(name), name]));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MAX_LOOKED_AT)
      .flatMap(([given, member]) => {
        if (member === undefined) return [];
        const name = ownName.get(given) ?? given;
        if (name === given || !Object.hasOwn(value, name)) return [[name, member]];
        say(`${place}${given}`, `and ${place}${name} are the same option; keep one`);
        return [];
      }),
  );
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);
}

/** The values as the schema has them; of what is wrong it says why, and answers `undefined`. */
export function parse<S extends z.ZodType>(
  schema: S,
  values: Values,
  place: string,
  known: readonly string[],
  say: Say,
): z.output<S> | undefined {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    if (issue.code === 'unrecognized_keys') {
      const names = issue.path.length === 0 ? known : [];
      for (const key of issue.keys) say(placeOf(place, [...issue.path, key]), unknownOption(key, names));
    } else say(placeOf(place, issue.path), phrase(issue.message, valueAt(values, issue.path)));
  }
  return undefined;
}

function phrase(message: string, value: unknown): string {
  if (value === undefined) return 'is required';
  return typeof value === 'function'
    ? 'is a function, and this takes data only; a function has its place in patchbay.config.ts'
    : message;
}

function valueAt(values: Values, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, segment) => (at as Record<PropertyKey, unknown> | undefined)?.[segment],
    values,
  );
}

function placeOf(place: string, path: readonly PropertyKey[]): string {
  const [first, ...rest] = path;
  const inside = rest.map(segment =>
    typeof segment === 'number' ? `[${segment}]` : `.${shownName(String(segment))}`,
  );
  return `${place}${first === undefined ? '' : shownName(String(first))}${inside.join('')}`;
}

function unknownOption(name: string, known: readonly string[]): string {
  const near = closestName(name, known);
  if (near !== undefined) return `is no option; did you mean ${near}`;
  return known.length === 0 ? 'is no option' : `is no option; there are ${known.join(', ')}`;
}

/** A name that somebody else has chosen, for a message. */
export function shownName(name: string): string {
  return /^[\w$.-]{1,60}$/.test(name) ? name : JSON.stringify(name.slice(0, 60));
}
