import { isObject } from '../../kernel/json.ts';
import { type JsonSchema, subschemasOf } from './json-schema.ts';

/** A property with this keyword goes out as the header `Mcp-Param-<value>` too (mcp.md 1.2). */
const KEYWORD = 'x-mcp-header';
/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MIRRORED_TYPES = new Set<unknown>(['string', 'integer', 'boolean']);

/**
 * Which rule the schema breaks that says which arguments go out as headers too, as a sentence; `undefined` when it breaks none. A tool
 * that breaks one must not be offered over HTTP (mcp.md 1.2). The schema must be bounded in depth.
 */
export function brokenHeaderRule(inputSchema: JsonSchema): string | undefined {
  return brokenIn(inputSchema, 'below', new Set());
}

/** `names` has the headers seen so far, in lower case. Only what is reached by `properties` alone may be mirrored; the root has no argument. */
function brokenIn(
  schema: JsonSchema,
  may: 'itself' | 'below' | 'no',
  names: Set<string>,
): string | undefined {
  const header = schema[KEYWORD];
  if (header !== undefined) {
    const broken = may === 'itself' ? brokenAt(schema, header, names) : 'stands where no argument is';
    if (broken !== undefined) return `${KEYWORD} ${broken}`;
  }
  for (const { keyword, schema: inside } of subschemasOf(schema)) {
    if (!isObject(inside)) continue;
    const broken = brokenIn(inside, may !== 'no' && keyword === 'properties' ? 'itself' : 'no', names);
    if (broken !== undefined) return broken;
  }
  return undefined;
}

function brokenAt(schema: JsonSchema, header: unknown, names: Set<string>): string | undefined {
  if (typeof header !== 'string' || !TOKEN.test(header)) return 'is not the name of a header';
  if (!MIRRORED_TYPES.has(schema.type)) return 'stands at an argument that is no string, integer or boolean';
  const name = header.toLowerCase();
  if (names.has(name)) return `names the header ${name.slice(0, 100)} twice`;
  names.add(name);
  return undefined;
}

/**
 * The headers that say some arguments of a call again, by their names, with values as they are: whoever sends them encodes them. What is not
 * given, `null`, or no value of the kind that is mirrored has no header. The schema must break no rule of `brokenHeaderRule`.
 */
export function mirroredArguments(
  inputSchema: JsonSchema,
  given: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return Object.fromEntries(headersIn(inputSchema, given));
}

function* headersIn(
  { properties }: JsonSchema,
  given: Readonly<Record<string, unknown>>,
): Generator<[header: string, value: string]> {
  if (!isObject(properties)) return;
  for (const [name, schema] of Object.entries(properties)) {
    if (!isObject(schema) || !Object.hasOwn(given, name)) continue;
    const value = given[name];
    const header = schema[KEYWORD];
    if (typeof header === 'string' && isMirrored(value)) yield [`Mcp-Param-${header}`, String(value)];
    if (isObject(value)) yield* headersIn(schema, value);
  }
}

function isMirrored(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value);
}
