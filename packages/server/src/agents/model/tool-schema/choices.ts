import { cut, governText } from '../../../connections/tool/govern-text.ts';
import type { JsonSchema, ResolveReference } from '../../../connections/tool/json-schema.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Combined } from './combine-schemas.ts';
import { brief } from './words.ts';

/** What is left of the choices that a schema gives. */
export interface Settled {
  readonly combined: Combined;
  /** Of which one has to apply; at least two. */
  readonly alternatives: readonly unknown[] | undefined;
  /** The list they stand in. */
  readonly list: unknown;
  /** The lists that were settled. */
  readonly chosen: ReadonlySet<unknown>;
  readonly mayBeNull: boolean;
  /** What was given up, as phrases. */
  readonly lost: readonly string[];
  /** The same for a model. */
  readonly words: readonly string[];
}

interface Means {
  readonly combine: (schemas: readonly unknown[], settled: ReadonlySet<unknown>) => Combined;
  readonly resolve: ResolveReference;
  /** Shall alternatives become one schema? */
  readonly merges: boolean;
}

/** How often one choice may lead to the next. */
const MAX_ROUNDS = 50;
/** More alternatives than that become one schema. */
const MAX_ALTERNATIVES = 32;

/**
 * Makes the choices of `anyOf` and `oneOf` that can be made without giving up anything: `null` is a type, a list of values is one list, of
 * one schema that is left nothing need be chosen. Where `merges` says so, the others are made too: objects become one object with
 * the members of all, of anything else the first schema stays.
 */
export function choose(schemas: readonly unknown[], settled: ReadonlySet<unknown>, means: Means): Settled {
  const chosen = new Set(settled);
  const all = [...schemas];
  const lost: string[] = [];
  const words: string[] = [];
  let mayBeNull = false;
  for (let round = 0; ; round++) {
    const combined = means.combine(all, chosen);
    const open = combined.choices.map(list => readChoice(list, combined, means));
    const choice = open.find(({ isFree }) => isFree) ?? open[0];
    const result = { combined, chosen, lost, words, alternatives: undefined, list: undefined };
    if (!choice) return { ...result, mayBeNull };
    const { list, real, isFree } = choice;
    mayBeNull ||= choice.mayBeNull;
    const isLast = round >= MAX_ROUNDS;
    const canStay = !means.merges && open.length === 1 && !isLast && real.length <= MAX_ALTERNATIVES;
    if (!isFree && canStay && !real.every(isOnlyRequired)) {
      return { ...result, mayBeNull, alternatives: real, list };
    }
    chosen.add(list);
    if (isFree) all.push(...choice.instead);
    else {
      lost.push('anyOf');
      words.push(`one of: ${outlinesOf(real, means)}`);
      if (!isLast && !real.every(isOnlyRequired)) all.push(inOne(real, combined, means));
    }
  }
}

interface Choice {
  readonly list: readonly unknown[];
  /** Without what can never apply, and without `null`. */
  readonly real: readonly unknown[];
  readonly mayBeNull: boolean;
  /** Is nothing given up by making it? */
  readonly isFree: boolean;
  /** What stands for it then. */
  readonly instead: readonly unknown[];
}

function readChoice(list: readonly unknown[], { keywords }: Combined, { resolve }: Means): Choice {
  const schemas = list.map(one => followed(one, resolve)).filter(one => one !== false);
  const real = schemas.filter(one => !isNull(one));
  const mayBeNull = real.length < schemas.length && allowsNull(keywords);
  const is = { list, real, mayBeNull };
  const isOpen = real.some(one => one === true || (isObject(one) && saysNothing(one)));
  if (isOpen || real.length === 0) {
    // Besides `null` there is nothing.
    const instead = !isOpen && mayBeNull ? [{ type: 'null' }] : [];
    return { ...is, isFree: true, instead };
  }
  if (real.length === 1) return { ...is, isFree: true, instead: real };
  const values = valuesOf(real);
  return values
    ? { ...is, isFree: true, instead: [{ enum: values, ...typeOfAll(real) }] }
    : { ...is, isFree: false, instead: [] };
}

function allowsNull({ type, enum: values }: JsonSchema): boolean {
  return (
    (type === undefined || [type].flat().includes('null')) &&
    (!Array.isArray(values) || values.includes(null))
  );
}

const MAX_OUTLINES = 12;
const MAX_OUTLINE = 80;

/** What tells alternatives apart, for a model: `(command="create", title) or (command="delete", id)`. */
function outlinesOf(schemas: readonly unknown[], { combine }: Means): string {
  const outlines = schemas.slice(0, MAX_OUTLINES).map(schema => {
    const { keywords } = combine([schema], new Set());
    const names = [keywords.required ?? Object.keys(object(keywords.properties))].flat().map(String);
    if (names.length === 0) return cut(brief(schema, MAX_OUTLINE), MAX_OUTLINE);
    const members = names.map(name => name + onlyValueOf(object(keywords.properties)[name]));
    return cut(`(${members.join(', ')})`, MAX_OUTLINE);
  });
  const more = schemas.length > MAX_OUTLINES ? [`${schemas.length - MAX_OUTLINES} more`] : [];
  return governText([...outlines, ...more].join(' or '));
}

function object(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

/** The one value that a member has. */
function onlyValueOf(schema: unknown): string {
  const { const: value, enum: values } = object(schema);
  const [only] = value === undefined && Array.isArray(values) && values.length === 1 ? values : [value];
  return only === undefined ? '' : `=${brief(only, MAX_OUTLINE)}`;
}

/** One schema in place of several of which one has to apply. */
function inOne(schemas: readonly unknown[], combined: Combined, { combine }: Means): unknown {
  if (isAllObjects(schemas, combine)) return oneObject(schemas, combined, combine);
  const { type } = combined.keywords;
  const fits = schemas.find(schema => {
    const own = combine([schema], new Set()).keywords.type;
    return type === undefined || own === undefined || [own].flat().some(one => [type].flat().includes(one));
  });
  return fits ?? schemas[0];
}

function followed(schema: unknown, resolve: ResolveReference): unknown {
  const isReference = isObject(schema) && typeof schema.$ref === 'string' && Object.keys(schema).length === 1;
  return isReference ? (resolve(schema.$ref as string) ?? schema) : schema;
}

function isNull(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const { type, enum: values, const: value } = schema;
  const types = [type].flat();
  return (
    (types.length === 1 && types[0] === 'null') ||
    value === null ||
    (Array.isArray(values) && values.length === 1 && values[0] === null)
  );
}

const NOTHING = new Set(['title', 'description', '$comment', 'examples', 'default']);

function saysNothing(schema: JsonSchema): boolean {
  return Object.keys(schema).every(keyword => NOTHING.has(keyword));
}

const OF_VALUES = new Set(['type', 'enum', 'const', ...NOTHING]);

/** All values of schemas that are nothing but values. */
function valuesOf(schemas: readonly unknown[]): readonly unknown[] | undefined {
  if (schemas.length === 0) return undefined;
  const lists = schemas.map(schema => {
    if (!isObject(schema) || !Object.keys(schema).every(keyword => OF_VALUES.has(keyword))) return undefined;
    if (Array.isArray(schema.enum)) return schema.enum;
    return schema.const === undefined ? undefined : [schema.const];
  });
  return lists.every(list => list !== undefined) ? [...new Set(lists.flat())] : undefined;
}

function typeOfAll(schemas: readonly unknown[]): { type?: unknown } {
  const types = new Set(schemas.map(schema => (isObject(schema) ? schema.type : undefined)));
  const [type] = types;
  return types.size === 1 && typeof type === 'string' ? { type } : {};
}

/** Does it only say which members belong together? */
function isOnlyRequired(schema: unknown): boolean {
  return (
    isObject(schema) &&
    Object.keys(schema).every(keyword => ['required', 'not', 'type', ...NOTHING].includes(keyword)) &&
    (schema.type === undefined || schema.type === 'object') &&
    (schema.required !== undefined || schema.not !== undefined)
  );
}

function isAllObjects(schemas: readonly unknown[], combine: Means['combine']): boolean {
  return schemas.every(schema => {
    const { keywords } = combine([schema], new Set());
    return keywords.type === 'object' || (keywords.type === undefined && isObject(keywords.properties));
  });
}

/** An object with the members of all; required is what all of them require. */
function oneObject(
  schemas: readonly unknown[],
  { keywords: around }: Combined,
  combine: Means['combine'],
): JsonSchema {
  const objects = schemas.map(schema => combine([schema], new Set()).keywords);
  const members = new Map<string, Set<unknown>>();
  for (const { properties } of objects) {
    for (const [name, schema] of isObject(properties) ? Object.entries(properties) : []) {
      if (schema === false) continue;
      const known = members.get(name);
      if (known) known.add(schema);
      else members.set(name, new Set([schema]));
    }
  }
  const known = isObject(around.properties) ? around.properties : {};
  const properties = [...members].flatMap(([name, schemasOf]): [string, unknown][] => {
    const isOfAll = objects.every(({ properties: own }) => isObject(own) && Object.hasOwn(own, name));
    // Said for all of them, and of some not more than that.
    if (Object.hasOwn(known, name) && !isOfAll) return [];
    const own = [...schemasOf];
    return [[name, own.length === 1 ? own[0] : { anyOf: own }]];
  });
  const [first, ...others] = objects.map(one => [one.required].flat());
  const required = (first ?? []).filter(name => others.every(names => names.includes(name)));
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: required.filter(name => typeof name === 'string'),
  };
}
