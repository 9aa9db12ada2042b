import { canonicalJson, isObject } from '../../kernel/json.ts';
import { pathText } from '../../kernel/path-text.ts';
import { cut } from './govern-text.ts';
import { createResolver, type JsonSchema, type ResolveReference } from './json-schema.ts';

/** Why arguments are not what a schema takes. Names no argument's value: it may be a secret. */
export interface Mismatch {
  /** `filters[0].name`; empty for the arguments as a whole. */
  readonly path: string;
  /** Reads on after the path, such as `must be a string`. */
  readonly says: string;
}

/**
 * The first place where arguments are certainly not what the schema of a tool takes. What cannot be told is left to the server: what
 * another document says, what a pattern says, which would have us run what the server wrote, and what takes more than bounded work
 * (attack 42).
 */
export function mismatchIn(schema: JsonSchema, given: unknown): Mismatch | undefined {
  try {
    const verdict = new Check(schema).compare(schema, given, []);
    return isWrong(verdict) ? { path: pathText(verdict.path), says: verdict.says } : undefined;
  } catch (thrown) {
    if (thrown instanceof TooMuchWork) return undefined;
    throw thrown;
  }
}

interface Wrong {
  readonly path: Path;
  readonly says: string;
}

type Path = readonly PropertyKey[];

/** `unknown` where nobody can tell. */
type Verdict = 'right' | 'unknown' | Wrong;

function isWrong(verdict: Verdict): verdict is Wrong {
  return typeof verdict !== 'string';
}

class TooMuchWork extends Error {}

/** Schemas, members, entries and values looked at. */
const MAX_WORK = 20_000;
/** Schemas in schemas, for which the stack has room. */
const MAX_DEPTH = 300;
/** Drafts in which a schema beside a reference does not count. */
const OLD_DRAFT = /draft-0[3-7]/;
/** Keywords that limit a value and are not looked at. */
const NOT_LOOKED_AT = [
  '$dynamicRef',
  '$recursiveRef',
  'contains',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'multipleOf',
  'pattern',
  'patternProperties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
  'uniqueItems',
];

class Check {
  private left = MAX_WORK;
  private depth = 0;
  private readonly resolve: ResolveReference;
  private readonly siblingsCount: boolean;

  constructor(root: JsonSchema) {
    this.resolve = createResolver(root);
    this.siblingsCount = typeof root.$schema !== 'string' || !OLD_DRAFT.test(root.$schema);
  }

  compare(schema: unknown, value: unknown, path: Path): Verdict {
    if (schema === false) return { path, says: 'must not be there' };
    if (!isObject(schema)) return schema === true ? 'right' : 'unknown';
    this.spend(1);
    if (this.depth === MAX_DEPTH) throw new TooMuchWork();
    this.depth++;
    const verdict = all(this.verdictsOn(schema, value, path));
    this.depth--;
    return verdict;
  }

  private spend(work: number): void {
    if (work > this.left) throw new TooMuchWork();
    this.left -= work;
  }

  private *verdictsOn(schema: JsonSchema, value: unknown, path: Path): Generator<Verdict> {
    if (typeof schema.$ref === 'string') {
      yield this.compare(this.resolve(schema.$ref), value, path);
      if (!this.siblingsCount) return;
    }
    const says = whyWrongType(schema.type, value) ?? this.whyWrongValue(schema, value);
    if (says !== undefined) yield { path, says };
    for (const limit of this.limitsOn(schema, value)) yield { path, says: limit };
    if (Array.isArray(value)) yield* this.verdictsOnEntries(schema, value, path);
    else if (isObject(value)) yield* this.verdictsOnMembers(schema, value, path);
    yield* this.verdictsOnBranches(schema, value, path);
    if (NOT_LOOKED_AT.some(keyword => keyword in schema)) yield 'unknown';
  }

  private whyWrongValue(schema: JsonSchema, value: unknown): string | undefined {
    const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : undefined;
    if (!values) return undefined;
    this.spend(values.length);
    return values.some(one => isSame(one, value))
      ? undefined
      : cut(`must be one of ${values.map(one => JSON.stringify(one)).join(', ')}`, MAX_SHOWN);
  }

  private *limitsOn(schema: JsonSchema, value: unknown): Generator<string> {
    if (typeof value === 'number') yield* numberLimits(schema, value);
    if (Array.isArray(value)) yield* countLimits(schema.minItems, schema.maxItems, value.length, 'entries');
    else if (isObject(value)) {
      const { minProperties, maxProperties } = schema;
      if (minProperties === undefined && maxProperties === undefined) return;
      yield* countLimits(minProperties, maxProperties, Object.keys(value).length, 'members');
    }
    if (typeof value !== 'string') return;
    const { minLength, maxLength } = schema;
    if (minLength === undefined && maxLength === undefined) return;
    this.spend(value.length / CHARACTERS_A_STEP);
    yield* countLimits(minLength, maxLength, [...value].length, 'characters');
  }

  private *verdictsOnMembers(
    { required, additionalProperties, ...schema }: JsonSchema,
    value: Readonly<Record<string, unknown>>,
    path: Path,
  ): Generator<Verdict> {
    for (const name of this.paid(required)) {
      if (typeof name === 'string' && !Object.hasOwn(value, name)) {
        yield { path: [...path, name], says: 'is required' };
      }
    }
    const properties = isObject(schema.properties) ? schema.properties : {};
    for (const name of this.paid(Object.keys(value))) {
      const inside = [...path, name];
      if (Object.hasOwn(properties, name)) yield this.compare(properties[name], value[name], inside);
      else if (additionalProperties === undefined || schema.patternProperties !== undefined) continue;
      else if (additionalProperties === false) yield { path: inside, says: 'is not known to the tool' };
      else yield this.compare(additionalProperties, value[name], inside);
    }
  }

  private *verdictsOnEntries(
    { items, prefixItems }: JsonSchema,
    value: readonly unknown[],
    path: Path,
  ): Generator<Verdict> {
    // Before 2020-12 the schemas of the first entries stood in `items`.
    const first: unknown = Array.isArray(items) ? items : prefixItems;
    const firstSchemas = Array.isArray(first) ? first : [];
    const others = Array.isArray(items) ? undefined : items;
    for (const [index, entry] of this.paid(value).entries()) {
      const schema = index < firstSchemas.length ? firstSchemas[index] : others;
      if (schema !== undefined) yield this.compare(schema, entry, [...path, index]);
    }
  }

  private *verdictsOnBranches(schema: JsonSchema, value: unknown, path: Path): Generator<Verdict> {
    const compare = (branch: unknown) => this.compare(branch, value, path);
    for (const branch of this.paid(schema.allOf)) yield compare(branch);
    if (schema.anyOf !== undefined) yield oneAtLeast(this.paid(schema.anyOf).map(compare), path);
    if (schema.oneOf !== undefined) yield exactlyOne(this.paid(schema.oneOf).map(compare), path);
    if (schema.not !== undefined) yield none(compare(schema.not), path);
    if (schema.if === undefined) return;
    const condition = compare(schema.if);
    const branch = isWrong(condition) ? schema.else : schema.then;
    if (condition === 'unknown') yield 'unknown';
    else if (branch !== undefined) yield compare(branch);
  }

  /** The list, when there is work left for all of it; none for what is no list. */
  private paid<T>(list: readonly T[]): readonly T[];
  private paid(list: unknown): readonly unknown[];
  private paid(list: unknown): readonly unknown[] {
    if (!Array.isArray(list)) return [];
    this.spend(list.length);
    return list;
  }
}

const MAX_SHOWN = 200;
const CHARACTERS_A_STEP = 1_000;

function all(verdicts: Iterable<Verdict>): Verdict {
  let whole: Verdict = 'right';
  for (const verdict of verdicts) {
    if (isWrong(verdict)) return verdict;
    if (verdict === 'unknown') whole = verdict;
  }
  return whole;
}

function oneAtLeast(verdicts: readonly Verdict[], path: Path): Verdict {
  if (verdicts.includes('right')) return 'right';
  if (verdicts.includes('unknown')) return 'unknown';
  return verdicts.length === 1 ? verdicts[0]! : { path, says: 'is none of the alternatives' };
}

function exactlyOne(verdicts: readonly Verdict[], path: Path): Verdict {
  const right = verdicts.filter(verdict => verdict === 'right').length;
  if (right > 1) return { path, says: 'is several of the alternatives, and must be one' };
  return verdicts.includes('unknown') ? 'unknown' : oneAtLeast(verdicts, path);
}

function none(verdict: Verdict, path: Path): Verdict {
  if (verdict === 'unknown') return verdict;
  return isWrong(verdict) ? 'right' : { path, says: 'must not be what it is' };
}

function whyWrongType(type: unknown, value: unknown): string | undefined {
  const types = [type].flat().filter(one => typeof one === 'string');
  if (types.length === 0 || types.some(one => isOfType(one, value))) return undefined;
  return `must be of the type ${types.join(' or ')}`;
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object') return one === other;
  return canonicalJson(one) === canonicalJson(other);
}

function* numberLimits(schema: JsonSchema, value: number): Generator<string> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof minimum === 'number' && value < minimum) yield `must be at least ${minimum}`;
  if (typeof maximum === 'number' && value > maximum) yield `must be at most ${maximum}`;
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) {
    yield `must be more than ${exclusiveMinimum}`;
  }
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) {
    yield `must be less than ${exclusiveMaximum}`;
  }
}

function* countLimits(min: unknown, max: unknown, count: number, what: string): Generator<string> {
  if (typeof min === 'number' && count < min) yield `must have at least ${min} ${what}`;
  if (typeof max === 'number' && count > max) yield `must have at most ${max} ${what}`;
}
