import { isObject } from '../../kernel/json.ts';
/** A JSON Schema as a server sent it. `true` and `false` are schemas too, and have no members. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A part of a schema that is a schema itself, or ought to be one. */
export interface Subschema {
  readonly keyword: string;
  /** Member or index under the keyword; `undefined` where the keyword holds the schema itself. */
  readonly key: string | undefined;
  readonly schema: unknown;
}

type Holds = 'one' | 'one or list' | 'list' | 'map';

/** Keywords with schemas in them, of 2020-12 and of the drafts before it. */
const SUBSCHEMA_KEYWORDS: ReadonlyMap<string, Holds> = new Map<string, Holds>([
  ['properties', 'map'],
  ['patternProperties', 'map'],
  ['dependentSchemas', 'map'],
  ['$defs', 'map'],
  ['definitions', 'map'],
  ['allOf', 'list'],
  ['anyOf', 'list'],
  ['oneOf', 'list'],
  ['prefixItems', 'list'],
  ['items', 'one or list'],
  ['additionalItems', 'one'],
  ['additionalProperties', 'one'],
  ['contains', 'one'],
  ['contentSchema', 'one'],
  ['else', 'one'],
  ['if', 'one'],
  ['not', 'one'],
  ['propertyNames', 'one'],
  ['then', 'one'],
  ['unevaluatedItems', 'one'],
  ['unevaluatedProperties', 'one'],
]);

/** Is what stands under the keyword schemas? */
export function holdsSchemas(keyword: string): boolean {
  return SUBSCHEMA_KEYWORDS.has(keyword);
}

/** Does the keyword hold its schemas in the shape the keyword has? `true` of a keyword that holds none. */
export function isWellShaped(keyword: string, value: unknown): boolean {
  switch (SUBSCHEMA_KEYWORDS.get(keyword)) {
    case 'map':
      return isObject(value);
    case 'list':
      return Array.isArray(value);
    default:
      return true;
  }
}

/** The schemas directly inside of a schema, in the order they were written. What is not in the shape of its keyword is passed over. */
export function* subschemasOf(schema: JsonSchema): Generator<Subschema> {
  for (const [keyword, value] of Object.entries(schema)) {
    const holds = SUBSCHEMA_KEYWORDS.get(keyword);
    if (holds === undefined || !isWellShaped(keyword, value)) continue;
    if (holds === 'map' || Array.isArray(value)) {
      for (const [key, inside] of Object.entries(value as object)) yield { keyword, key, schema: inside };
    } else {
      yield { keyword, key: undefined, schema: value };
    }
  }
}

/** What is to stand for a schema inside of another one, and where that is. */
export type ReplaceSchema = (inside: unknown, keyword: string, key: string | undefined) => unknown;

/** A copy with each schema directly inside of it replaced; everything else is the same. */
export function mapSubschemas(schema: JsonSchema, replace: ReplaceSchema): JsonSchema {
  const replaced = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
    const holds = SUBSCHEMA_KEYWORDS.get(keyword);
    if (holds === undefined || !isWellShaped(keyword, value)) return [keyword, value];
    if (Array.isArray(value)) return [keyword, value.map((one, index) => replace(one, keyword, `${index}`))];
    if (holds !== 'map') return [keyword, replace(value, keyword, undefined)];
    const inside = Object.entries(value as object).map(([key, one]) => [key, replace(one, keyword, key)]);
    return [keyword, Object.fromEntries(inside)];
  });
  return Object.fromEntries(replaced);
}

/** What a reference inside of one document stands for; `undefined` when it is another document's, or leads nowhere. */
export type ResolveReference = (reference: string) => JsonSchema | undefined;

/** Looks up references inside of `root`: JSON pointers (`#/$defs/x`) and anchors (`#x`). Nothing is ever fetched. */
export function createResolver(root: unknown): ResolveReference {
  const known = new Map<string, JsonSchema | undefined>();
  let anchors: ReadonlyMap<string, JsonSchema> | undefined;
  return reference => {
    if (!reference.startsWith('#')) return undefined;
    if (known.has(reference)) return known.get(reference);
    const fragment = decoded(reference.slice(1));
    let found: unknown;
    if (fragment === '' || fragment?.startsWith('/')) {
      found = atPointer(root, fragment);
    } else if (fragment !== undefined) {
      anchors ??= anchorsIn(root);
      found = anchors.get(fragment);
    }
    const schema = isObject(found) ? found : undefined;
    known.set(reference, schema);
    return schema;
  };
}

function decoded(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}

function atPointer(root: unknown, pointer: string): unknown {
  let at: unknown = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

function anchorsIn(root: unknown): ReadonlyMap<string, JsonSchema> {
  const anchors = new Map<string, JsonSchema>();
  const waiting = [root];
  for (let schema = waiting.pop(); schema !== undefined; schema = waiting.pop()) {
    if (!isObject(schema)) continue;
    const { $anchor } = schema;
    if (typeof $anchor === 'string' && !anchors.has($anchor)) anchors.set($anchor, schema);
    for (const inside of subschemasOf(schema)) waiting.push(inside.schema);
  }
  return anchors;
}
