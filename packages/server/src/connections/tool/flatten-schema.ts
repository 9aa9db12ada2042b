import { isObject } from '../../kernel/json.ts';
import { governDescription } from './govern-text.ts';
import type { JsonSchema, ResolveReference } from './json-schema.ts';

/** What a schema says of one value, with everything that applies to the same value merged into it. Members are filled while it is read. */
export interface FlatSchema {
  /** As declared, or as what is said of properties and items tells. */
  type: string | undefined;
  /** Is `type` only told by what else is said? */
  isTypeGuessed: boolean;
  description: string | undefined;
  /** By name, all schemas that apply to the property. */
  readonly properties: Map<string, unknown[]>;
  readonly required: Set<string>;
  readonly items: unknown[];
  /** The only values there may be, without `null`. */
  values: readonly unknown[] | undefined;
  mayBeNull: boolean;
  /** Limits, in words. */
  readonly constraints: Set<string>;
  /** Is there more inside than the budget allows? Then nothing of it is told. */
  isTooLarge: boolean;
}

/** What the work on one schema may cost, in schemas, names and values looked at: the rest is left out. */
export class Budget {
  private left: number;

  constructor(left: number) {
    this.left = left;
  }

  /** Takes so much of it, or nothing when there is not so much left. */
  spend(amount: number): boolean {
    if (amount > this.left) return false;
    this.left -= amount;
    return true;
  }
}

const TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

const CONSTRAINTS = [
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'contentEncoding',
  'contentMediaType',
  'default',
];

const MAX_CONSTRAINT = 200;

/** Keywords beside which a list of values is not all that a schema says. */
const MORE_THAN_VALUES = ['$ref', 'allOf', 'anyOf', 'oneOf', 'properties', 'items'];

/**
 * Merges schemas of one document that apply to the same value: references inside of the document are resolved, their siblings count too
 * all of `allOf` is merged, of `anyOf` and `oneOf` the first branch that is not null, or the values of all where
 * they are nothing but values. What comes first wins where only one can. Nothing is looked at twice for the same value, so
 * circles end.
 */
export class Flattener {
  private readonly resolve: ResolveReference;
  private readonly budget: Budget;
  private readonly entries = new Map<object, readonly [string, unknown][]>();
  private readonly words = new Map<JsonSchema, Words>();

  constructor(resolve: ResolveReference, budget: Budget) {
    this.resolve = resolve;
    this.budget = budget;
  }

  /** `withStructure` says whether properties and items are wanted too. */
  flatten(schemas: readonly unknown[], withStructure: boolean): FlatSchema {
    const flat: FlatSchema = {
      type: undefined,
      isTypeGuessed: false,
      description: undefined,
      properties: new Map(),
      required: new Set(),
      items: [],
      values: undefined,
      mayBeNull: false,
      constraints: new Set(),
      isTooLarge: false,
    };
    const seen = new Set<JsonSchema>();
    const waiting = schemas.toReversed();
    while (waiting.length > 0) {
      const schema = waiting.pop();
      if (!isObject(schema) || seen.has(schema)) continue;
      // The first is paid for by whoever wants it.
      if (seen.size > 0 && !this.budget.spend(1)) break;
      seen.add(schema);
      this.absorb(flat, schema, withStructure);
      waiting.push(...this.aboutTheSameValue(flat, schema).toReversed());
    }
    this.addRequired(flat);
    return flat;
  }

  private absorb(flat: FlatSchema, schema: JsonSchema, withStructure: boolean): void {
    absorbType(flat, schema);
    this.absorbValues(flat, schema);
    const { description, constraints } = this.wordsOf(schema);
    flat.description ??= description;
    for (const constraint of constraints) flat.constraints.add(constraint);
    if (withStructure) this.absorbStructure(flat, schema);
  }

  private absorbStructure(flat: FlatSchema, { items, required, properties }: JsonSchema): void {
    if (isObject(items)) {
      if (this.budget.spend(1)) flat.items.push(items);
      else flat.isTooLarge = true;
    }
    const names = Array.isArray(required) ? required : [];
    const entries = isObject(properties) ? this.entriesOf(properties) : [];
    if (!this.budget.spend(names.length + entries.length)) {
      flat.isTooLarge = true;
      return;
    }
    for (const name of names) {
      if (typeof name === 'string' && name !== '__proto__') flat.required.add(name);
    }
    for (const [name, property] of entries) {
      const known = flat.properties.get(name);
      if (known) known.push(property);
      else flat.properties.set(name, [property]);
    }
  }

  /** What is required is there, also when nothing is known of it. */
  private addRequired(flat: FlatSchema): void {
    const unknown = [...flat.required].filter(name => !flat.properties.has(name));
    if (!this.budget.spend(unknown.length)) flat.isTooLarge = true;
    else for (const name of unknown) flat.properties.set(name, []);
  }

  private absorbValues(flat: FlatSchema, schema: JsonSchema): void {
    const values = valuesOf(schema);
    if (!values || !this.budget.spend(values.length)) return;
    if (values.includes(null)) flat.mayBeNull = true;
    const others = values.filter(value => value !== null);
    if (others.length > 0) flat.values ??= others;
    else if (values.length > 0) flat.type ??= 'null';
  }

  private aboutTheSameValue(flat: FlatSchema, schema: JsonSchema): unknown[] {
    const { $ref, allOf } = schema;
    const target = typeof $ref === 'string' ? this.resolve($ref) : undefined;
    const all = Array.isArray(allOf) && this.budget.spend(allOf.length) ? allOf : [];
    const branches = [schema.anyOf, schema.oneOf].flatMap(list => this.branchOf(flat, list));
    return [target, ...all, ...branches];
  }

  private branchOf(flat: FlatSchema, list: unknown): unknown[] {
    if (!Array.isArray(list) || !this.budget.spend(list.length)) return [];
    const branches = list.filter(branch => !isNull(this.resolved(branch)));
    if (branches.length < list.length) flat.mayBeNull = true;
    if (branches.length < 2 || !branches.every(isNothingButValues)) return branches.slice(0, 1);
    const values = branches.map(branch => valuesOf(branch) ?? []);
    const count = values.reduce((sum, { length }) => sum + length, 0);
    return this.budget.spend(count) ? [{ type: branches[0]?.type, enum: values.flat() }] : [];
  }

  private resolved(branch: unknown): unknown {
    return isObject(branch) && typeof branch.$ref === 'string' ? this.resolve(branch.$ref) : branch;
  }

  private entriesOf(properties: Readonly<Record<string, unknown>>): readonly [string, unknown][] {
    let entries = this.entries.get(properties);
    if (!entries) {
      // What must not be there is no field, and `__proto__` must not become one.
      entries = Object.entries(properties).filter(([name, one]) => one !== false && name !== '__proto__');
      this.entries.set(properties, entries);
    }
    return entries;
  }

  private wordsOf(schema: JsonSchema): Words {
    let words = this.words.get(schema);
    if (!words) {
      words = readWords(schema);
      this.words.set(schema, words);
    }
    return words;
  }
}

function absorbType(flat: FlatSchema, schema: JsonSchema): void {
  const types = [schema.type].flat().filter(type => typeof type === 'string' && TYPES.has(type)) as string[];
  const declared = types.find(type => type !== 'null') ?? types[0];
  if (types.length > 1 && types.includes('null')) flat.mayBeNull = true;
  if (declared !== undefined && (flat.type === undefined || flat.isTypeGuessed)) {
    flat.type = declared;
    flat.isTypeGuessed = false;
  } else if (flat.type === 'number' && declared === 'integer') {
    flat.type = declared;
  }
  if (flat.type !== undefined) return;
  if (isObject(schema.properties) || Array.isArray(schema.required)) flat.type = 'object';
  else if (schema.items !== undefined || schema.prefixItems !== undefined) flat.type = 'array';
  flat.isTypeGuessed = flat.type !== undefined;
}

function valuesOf(schema: JsonSchema): readonly unknown[] | undefined {
  if (Array.isArray(schema.enum)) return schema.enum;
  return schema.const === undefined ? undefined : [schema.const];
}

function isNull(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const types = [schema.type].flat();
  const values = valuesOf(schema) ?? [];
  return (types.length === 1 && types[0] === 'null') || (values.length === 1 && values[0] === null);
}

function isNothingButValues(schema: unknown): schema is JsonSchema {
  return (
    isObject(schema) &&
    valuesOf(schema) !== undefined &&
    MORE_THAN_VALUES.every(keyword => !(keyword in schema))
  );
}

interface Words {
  readonly description: string | undefined;
  readonly constraints: readonly string[];
}

/** Texts of a server are governed. */
function readWords(schema: JsonSchema): Words {
  const { description } = schema;
  const constraints = CONSTRAINTS.flatMap(keyword => {
    const value = schema[keyword];
    const isSaid = typeof value === 'string' || typeof value === 'number' || value === true;
    return isSaid ? [governDescription(`${keyword}: ${value}`.slice(0, MAX_CONSTRAINT))] : [];
  });
  return {
    description: typeof description === 'string' ? governDescription(description) : undefined,
    constraints,
  };
}
