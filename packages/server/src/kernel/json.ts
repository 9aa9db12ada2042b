import { granted, type Outcome, refused } from './result.ts';

/** Why a body was not taken. `message` is a sentence about "the JSON" that a caller can act on. */
export interface JsonRefusal {
  readonly reason:
    | 'syntax'
    | 'too_deep'
    | 'duplicate_key'
    | 'forbidden_key'
    | 'nul_character'
    | 'half_character';
  readonly message: string;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** From here on a set beats looking through the keys one by one. */
const FEW_KEYS = 12;

/** An escaped half of a pair. `JSON.stringify` writes whole pairs as they are, so what is left of these is alone. */
const SURROGATE_ESCAPE = /(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]/;

/** An escaped U+0000: an odd number of backslashes in front of `u0000`. */
const ESCAPED_NUL = /(?<!\\)(?:\\\\)*\\u0000/;

/**
 * Reads untrusted JSON: gives what `JSON.parse` gives, or a refusal. Refused besides bad syntax:
 * nesting deeper than `maxDepth` containers; the same key twice in one object, of which two readers would see different
 * values; the key `__proto__`, which merging code mistakes for the prototype; U+0000, which PostgreSQL cannot store; half of a
 * surrogate pair, which no store keeps as it is.
 * Takes time linear in the text and no recursion.
 */
export function parseJson(
  text: string,
  options: { readonly maxDepth: number },
): Outcome<unknown, JsonRefusal> {
  const refusal = scan(text, options.maxDepth);
  // Too deep is final; the other findings only count if the text is JSON at all.
  if (refusal?.reason === 'too_deep') return refused(refusal);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refused({ reason: 'syntax', message: `the JSON is not well-formed${whereItBroke(error)}` });
  }
  if (refusal) return refused(refusal);
  if (text.includes('\\u0000') && ESCAPED_NUL.test(text)) {
    return refused({
      reason: 'nul_character',
      message: 'the JSON contains the character U+0000, which cannot be stored; remove it',
    });
  }
  if (SURROGATE_ESCAPE.test(text) && SURROGATE_ESCAPE.test(JSON.stringify(value))) {
    return refused({
      reason: 'half_character',
      message: 'the JSON contains half of a surrogate pair, which is no character; remove it',
    });
  }
  return granted(value);
}

/** The engine's message quotes the text, which may hold a secret: only the position is taken from it. */
function whereItBroke(error: unknown): string {
  const place = /\(line (\d+) column (\d+)\)/.exec(error instanceof Error ? error.message : '');
  return place ? ` at line ${place[1]}, column ${place[2]}` : '';
}

type Keys = { readonly list: string[]; set: Set<string> | undefined };

/**
 * One pass over the brackets and keys. Strings are jumped over natively. Need only be right about well-formed text;
 * `JSON.parse` rejects the rest.
 */
function scan(text: string, maxDepth: number): JsonRefusal | undefined {
  /** One entry an open container: the keys of an object, `undefined` for an array. */
  const open: (Keys | undefined)[] = [];
  let keys: Keys | undefined;
  let keyNext = false;
  let found: JsonRefusal | undefined;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = closingQuote(text, at + 1);
        if (end < 0) return found;
        if (keyNext && keys && !found) found = addKey(keys, text, at, end);
        keyNext = false;
        at = end;
        break;
      }
      case OPEN_OBJECT:
      case OPEN_ARRAY: {
        if (open.length === maxDepth) {
          return {
            reason: 'too_deep',
            message: `the JSON is nested deeper than ${maxDepth} levels; flatten it`,
          };
        }
        keyNext = text.charCodeAt(at) === OPEN_OBJECT;
        keys = keyNext ? { list: [], set: undefined } : undefined;
        open.push(keys);
        break;
      }
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        open.pop();
        keys = open.at(-1);
        keyNext = false;
        break;
      case COMMA:
        keyNext = keys !== undefined;
        break;
    }
  }
  return found;
}

/** Where the string that began before `from` ends, backslashes heeded; negative when it does not. */
export function closingQuote(text: string, from: number): number {
  let end = text.indexOf('"', from);
  while (end > 0 && text.charCodeAt(end - 1) === BACKSLASH) {
    let backslashes = 1;
    while (end - 1 - backslashes >= from && text.charCodeAt(end - 1 - backslashes) === BACKSLASH)
      backslashes++;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return end;
}

function addKey(keys: Keys, text: string, quote: number, end: number): JsonRefusal | undefined {
  let key = text.slice(quote + 1, end);
  if (key.includes('\\')) {
    try {
      key = JSON.parse(text.slice(quote, end + 1));
    } catch {
      return undefined;
    }
  }
  if (key === '__proto__') {
    return {
      reason: 'forbidden_key',
      message: 'the JSON has a key "__proto__", which is not allowed; remove it',
    };
  }
  const known = keys.set ? keys.set.has(key) : keys.list.includes(key);
  if (known) {
    const shown = key.length > 80 ? `${key.slice(0, 80)}...` : key;
    return {
      reason: 'duplicate_key',
      message: `the JSON has the key ${JSON.stringify(shown)} twice in one object; keep one`,
    };
  }
  if (keys.set) keys.set.add(key);
  else if (keys.list.push(key) > FEW_KEYS) keys.set = new Set(keys.list);
  return undefined;
}

/**
 * The one text of a JSON value, whatever the order its keys were written in: for digests and comparisons. Like
 * `JSON.stringify` without white space, keys sorted by UTF-16 code units, members that are `undefined` left out.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

/** Is it an object as JSON has them: no list, and not nothing? */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
