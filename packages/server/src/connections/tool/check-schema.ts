import { isObject } from '../../kernel/json.ts';
import {
  createResolver,
  isWellShaped,
  type JsonSchema,
  type ResolveReference,
  subschemasOf,
} from './json-schema.ts';
import { faultIn } from './json-value.ts';

const MAX_BYTES = 256 * 1024;
/** Containers in containers: what reads a schema further on may call itself so often. */
const MAX_DEPTH = 64;
/** Schemas that one value has to be compared with, references written out: an exponential schema has millions. */
const MAX_WEIGHT = 10_000;
/** Schemas that lead from one to the next without a step into the value. */
const MAX_CHAIN = 100;

const TYPES: ReadonlySet<unknown> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
]);

/** Keywords whose schemas are about the same value as the schema they stand in. */
const SAME_VALUE = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas']);

/**
 * Why a JSON value of a server cannot be kept or handed on, reading on after its name; `undefined` when it can. Looks at size, depth and
 * characters in time linear to the value.
 */
export function whyNotKept(value: unknown): string | undefined {
  const bytes = bytesOf(value);
  // First: what is too large need not be walked through.
  if (bytes > MAX_BYTES) return `has ${bytes} bytes; at most ${MAX_BYTES} are taken`;
  return faultIn(value, MAX_DEPTH);
}

function bytesOf(value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value) ?? '');
  } catch {
    // Nested so deeply that nothing writes it: `faultIn` says so.
    return 0;
  }
}

/**
 * Why a schema cannot be used, reading on after its name; `undefined` when it can. It is not changed. Refused is what would make a
 * provider refuse a whole request, and what would keep whoever follows it busy without end (attack 42). References to other documents
 * are not followed, and no pattern is run.
 */
export function whyNoSchema(root: unknown): string | undefined {
  const unkept = whyNotKept(root);
  if (unkept !== undefined) return unkept;
  const resolve = createResolver(root);
  const isBounded = createScale(resolve);
  const seen = new Set<unknown>();
  const waiting: (readonly [schema: unknown, pointer: string])[] = [[root, '']];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [schema, pointer] = next;
    if (typeof schema === 'boolean' || seen.has(schema)) continue;
    if (!isObject(schema)) return `has no schema at ${place(pointer)}`;
    seen.add(schema);
    const malformed = malformedKeyword(schema);
    if (malformed !== undefined) return `is malformed at ${place(`${pointer}/${malformed}`)}`;
    if (!isBounded(schema)) return `refers to itself without end, or to too much, at ${place(pointer)}`;
    // What is referred to may stand anywhere.
    const target = targetOf(schema, resolve);
    if (target) waiting.push([target, String(schema.$ref).slice(1)]);
    for (const { keyword, key, schema: inside } of subschemasOf(schema)) {
      waiting.push([inside, `${pointer}/${keyword}${key === undefined ? '' : `/${key}`}`]);
    }
  }
  return undefined;
}

function targetOf({ $ref }: JsonSchema, resolve: ResolveReference): JsonSchema | undefined {
  return typeof $ref === 'string' ? resolve($ref) : undefined;
}

const MAX_SHOWN = 200;

function place(pointer: string): string {
  if (pointer === '') return 'its root';
  return pointer.length > MAX_SHOWN ? `${pointer.slice(0, MAX_SHOWN)}...` : pointer;
}

function malformedKeyword(schema: JsonSchema): string | undefined {
  return Object.keys(schema).find(keyword => !isWellFormed(keyword, schema[keyword]));
}

function isWellFormed(keyword: string, value: unknown): boolean {
  switch (keyword) {
    case 'type':
      return Array.isArray(value) ? value.every(one => TYPES.has(one)) : TYPES.has(value);
    case 'required':
      return Array.isArray(value) && value.every(name => typeof name === 'string');
    case 'enum':
      return Array.isArray(value);
    case '$ref':
    case '$anchor':
    case 'pattern':
    case 'description':
      return typeof value === 'string';
    default:
      return isWellShaped(keyword, value);
  }
}

/** What it takes to compare one value with a schema. */
interface Weight {
  /** Schemas, each as often as it is come to. */
  readonly schemas: number;
  /** The longest way from one schema to the next. */
  readonly chain: number;
}

const ENDLESS: Weight = { schemas: Number.POSITIVE_INFINITY, chain: Number.POSITIVE_INFINITY };

/** Tells whether comparing a value with a schema ends, and soon. Each schema is looked at once. */
function createScale(resolve: ResolveReference): (schema: JsonSchema) => boolean {
  const weights = new Map<JsonSchema, Weight>();
  const weigh = (schema: JsonSchema, above: number): Weight => {
    const known = weights.get(schema);
    if (known) return known;
    if (above === MAX_CHAIN) return ENDLESS;
    // Until it is known: whoever comes by again goes round in a circle.
    weights.set(schema, ENDLESS);
    const inside = [...aboutTheSameValue(schema, resolve)].map(one => weigh(one, above + 1));
    const weight = {
      schemas: inside.reduce((sum, { schemas }) => sum + schemas, 1),
      chain: inside.reduce((longest, { chain }) => Math.max(longest, chain + 1), 1),
    };
    weights.set(schema, weight);
    return weight;
  };
  return schema => {
    const { schemas, chain } = weigh(schema, 0);
    return schemas <= MAX_WEIGHT && chain <= MAX_CHAIN;
  };
}

function* aboutTheSameValue(schema: JsonSchema, resolve: ResolveReference): Generator<JsonSchema> {
  const target = targetOf(schema, resolve);
  if (target) yield target;
  for (const { keyword, schema: inside } of subschemasOf(schema)) {
    if (SAME_VALUE.has(keyword) && isObject(inside)) yield inside;
  }
}
