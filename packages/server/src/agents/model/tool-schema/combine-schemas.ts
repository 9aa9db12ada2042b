import type { Budget } from '../../../connections/tool/flatten-schema.ts';
import type { JsonSchema, ResolveReference } from '../../../connections/tool/json-schema.ts';
import { canonicalJson, isObject } from '../../../kernel/json.ts';
import { modernise } from './modernise-schema.ts';

/** What several schemas say of one value, as one schema that has neither references nor `allOf`. */
export interface Combined {
  /** Keywords of all of them but combinations; `const` is an `enum` of one value, `null` one of the types. */
  readonly keywords: JsonSchema;
  /** Of each list, one schema has to apply. */
  readonly choices: readonly (readonly unknown[])[];
  /** Those it was made of, as they were written. */
  readonly parts: ReadonlySet<JsonSchema>;
  /** What there is no room for beside what was said first. */
  readonly rivals: readonly (readonly [keyword: string, value: unknown])[];
  /** Did the budget end before all of them were looked at? */
  readonly isCut: boolean;
}

/** What names or holds schemas and says nothing of a value. */
const STRUCTURE = new Set([
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  '$defs',
  'definitions',
  '$schema',
  '$id',
  'id',
  '$anchor',
  '$dynamicAnchor',
  '$vocabulary',
  '$comment',
  'nullable',
  'if',
  'then',
  'else',
]);

/** Under which `if`, `then` and `else` are kept. */
export const CONDITION = 'condition';

/** Keywords of which the larger number is the narrower limit, and the smaller. */
const LOWER = new Set([
  'minimum',
  'exclusiveMinimum',
  'minLength',
  'minItems',
  'minProperties',
  'minContains',
]);
const UPPER = new Set([
  'maximum',
  'exclusiveMaximum',
  'maxLength',
  'maxItems',
  'maxProperties',
  'maxContains',
]);
const SCHEMAS_BY_NAME = new Set(['properties', 'patternProperties', 'dependentSchemas']);
const SCHEMA = new Set(['items', 'additionalProperties', 'contains', 'propertyNames']);
/** Where the first that is said is as good as any other. */
const ANNOTATIONS = new Set(['title', 'description', 'default', 'examples', 'example', 'deprecated']);

/**
 * Combines schemas of one document that apply to the same value: references are followed, what stands beside them counts, all of `allOf`
 * counts. Nothing is looked at twice, so circles end. `settled` are choices that were made.
 */
export function combine(
  schemas: readonly unknown[],
  resolve: ResolveReference,
  budget: Budget,
  settled: ReadonlySet<unknown> = new Set(),
): Combined {
  const keywords: Record<string, unknown> = {};
  const choices: (readonly unknown[])[] = [];
  const parts = new Set<JsonSchema>();
  const rivals: [string, unknown][] = [];
  const waiting = schemas.toReversed();
  let isCut = false;
  while (waiting.length > 0) {
    const schema = waiting.pop();
    if (schema === false) keywords.not = {};
    if (!isObject(schema) || parts.has(schema)) continue;
    isCut = !budget.spend(costOf(schema));
    if (isCut) break;
    parts.add(schema);
    const { $ref, allOf, anyOf, oneOf } = schema;
    for (const [keyword, value] of Object.entries(withNull(modernise(schema)))) {
      if (STRUCTURE.has(keyword)) continue;
      if (!absorb(keywords, keyword, value)) rivals.push([keyword, value]);
    }
    const condition = conditionOf(schema);
    if (condition && !absorb(keywords, CONDITION, condition)) rivals.push([CONDITION, condition]);
    for (const list of [anyOf, oneOf]) {
      if (Array.isArray(list) && list.length > 0 && !settled.has(list)) choices.push(list);
    }
    const target = typeof $ref === 'string' ? resolve($ref) : undefined;
    if (typeof $ref === 'string' && !target) rivals.push(['$ref', $ref]);
    waiting.push(...[target, ...(Array.isArray(allOf) ? allOf : [])].toReversed());
  }
  if (parts.size > 1) openUp(keywords);
  return { keywords, choices, parts, rivals, isCut };
}

/** What merging it takes: its keywords, and what stands directly in them. */
function costOf(schema: JsonSchema): number {
  let cost = 1;
  for (const value of Object.values(schema)) {
    if (Array.isArray(value)) cost += value.length;
    else cost += isObject(value) ? Object.keys(value).length : 1;
  }
  return cost;
}

/** The three keywords mean something together only. */
function conditionOf(schema: JsonSchema): JsonSchema | undefined {
  if (schema.if === undefined || (schema.then === undefined && schema.else === undefined)) return undefined;
  const said = ['if', 'then', 'else'].filter(keyword => schema[keyword] !== undefined);
  return Object.fromEntries(said.map(keyword => [keyword, schema[keyword]]));
}

/** OpenAPI says with a flag what JSON Schema says with a type. */
function withNull(schema: JsonSchema): JsonSchema {
  const { nullable, type, enum: values } = schema;
  if (nullable !== true || typeof type !== 'string') return schema;
  const isListed = !Array.isArray(values) || values.includes(null);
  return { ...schema, type: [type, 'null'], ...(!isListed && { enum: [...values, null] }) };
}

/** Each of several schemas forbids the others' properties: nothing would be left. */
function openUp(keywords: Record<string, unknown>): void {
  for (const keyword of ['additionalProperties', 'unevaluatedProperties']) {
    if (keywords[keyword] === false) delete keywords[keyword];
  }
}

/** Answers whether there was room for it. */
function absorb(into: Record<string, unknown>, keyword: string, value: unknown): boolean {
  const known = into[keyword];
  if (keyword === 'const') return absorb(into, 'enum', [value]);
  if (known === undefined) {
    into[keyword] = value;
    return true;
  }
  const merged = mergedKeyword(keyword, known, value);
  if (merged === undefined) return ANNOTATIONS.has(keyword) || known === value;
  into[keyword] = merged;
  return true;
}

function mergedKeyword(keyword: string, known: unknown, value: unknown): unknown {
  if (keyword === 'type') return commonTypes(known, value);
  if (keyword === 'enum') return commonValues(known, value);
  if (keyword === 'required') return [...new Set([known, value].flat())];
  if (SCHEMAS_BY_NAME.has(keyword)) return byName(known, value);
  if (SCHEMA.has(keyword)) return bothSchemas(known, value);
  if (typeof known !== 'number' || typeof value !== 'number') return undefined;
  if (LOWER.has(keyword)) return Math.max(known, value);
  return UPPER.has(keyword) ? Math.min(known, value) : undefined;
}

/** `undefined` where nothing is both. */
function commonTypes(known: unknown, value: unknown): unknown {
  const others = [value].flat();
  const common = [known].flat().flatMap(type => {
    if (others.includes(type)) return [type];
    if (type === 'number' && others.includes('integer')) return ['integer'];
    return type === 'integer' && others.includes('number') ? ['integer'] : [];
  });
  if (common.length === 0) return undefined;
  return common.length === 1 ? common[0] : [...new Set(common)];
}

function commonValues(known: unknown, value: unknown): unknown {
  if (!Array.isArray(known) || !Array.isArray(value)) return undefined;
  const others = new Set(value.map(asKey));
  const common = known.filter(one => others.has(asKey(one)));
  return common.length > 0 ? common : undefined;
}

/** Equal for equal values. */
function asKey(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? canonicalJson(value) : value;
}

function byName(known: unknown, value: unknown): unknown {
  if (!isObject(known) || !isObject(value)) return undefined;
  const merged: Record<string, unknown> = { ...known };
  for (const [name, schema] of Object.entries(value)) {
    merged[name] = Object.hasOwn(merged, name) ? bothSchemas(merged[name], schema) : schema;
  }
  return merged;
}

function bothSchemas(known: unknown, value: unknown): unknown {
  if (known === true || known === value) return value;
  return value === true ? known : { allOf: [known, value] };
}
