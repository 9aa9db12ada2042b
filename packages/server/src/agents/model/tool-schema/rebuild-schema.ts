import { Budget } from '../../../connections/tool/flatten-schema.ts';
import {
  createResolver,
  type JsonSchema,
  type ResolveReference,
} from '../../../connections/tool/json-schema.ts';
import { isObject } from '../../../kernel/json.ts';
import { choose, type Settled } from './choices.ts';
import { CONDITION, type Combined, combine } from './combine-schemas.ts';
import { brief, described, wordOf } from './words.ts';

/** How much of JSON Schema a provider takes that takes only some of it; `anyOf` is part of it, references are not. */
export interface Subset {
  /** Keywords that stay, by the type they are about. */
  readonly limits: Readonly<Record<string, readonly string[]>>;
  readonly formats: Readonly<Record<string, readonly string[]>>;
  /** The largest numbers that stay, by keyword. */
  readonly atMost: Readonly<Record<string, number>>;
  readonly defaults: boolean;
  /** May an empty text be one of the values? */
  readonly emptyTexts: boolean;
  /** May a schema have no type? */
  readonly untyped: boolean;
}

/** Something of a schema that its provider does not take. */
export interface Loss {
  /** JSON pointer into the schema as the server wrote it. */
  readonly path: string;
  /** A keyword, or a phrase. */
  readonly what: string;
}

export interface Rebuilt {
  readonly schema: JsonSchema;
  readonly losses: readonly Loss[];
}

/** The root is level 0, its properties are level 1. */
const MAX_LEVEL = 6;
/** Keywords, and what stands directly in them, each as often as it applies to a value. */
const MAX_WORK = 100_000;
/** Characters of the names, values and texts of the result: what is referred to often is written often. */
const MAX_TEXT = 300_000;
/** Schemas of the result. */
const MAX_NODES = 1_500;
/** Values of one list: grammars have a rule for each. */
export const MAX_VALUES = 256;
/** How often a schema may stand inside of itself. */
const MAX_TURNS = 1;

/** A schema of the result that is to be written. */
interface Node {
  readonly into: Record<string, unknown>;
  readonly schemas: readonly unknown[];
  readonly settled: ReadonlySet<unknown>;
  readonly path: string;
  readonly level: number;
  readonly above: Above | undefined;
  /** In place of what the schemas say. */
  readonly description?: string | undefined;
}

/** The schemas around a schema, the nearest first. */
interface Above {
  readonly parts: ReadonlySet<JsonSchema>;
  readonly above: Above | undefined;
}

/**
 * The schema of an object in the few keywords of a subset: references are replaced by what they stand for, `allOf` is merged, what the
 * subset cannot say stands in the descriptions and in `losses`. What is deeper than level 6, inside of itself or in more than a schema
 * should have, is a field without structure. Takes bounded time whatever the schema.
 */
export function rebuildSchema(root: JsonSchema, subset: Subset): Rebuilt {
  return new Rebuilder(root, subset).rebuild(root);
}

class Rebuilder {
  private readonly resolve: ResolveReference;
  private readonly subset: Subset;
  private readonly budget = new Budget(MAX_WORK);
  private readonly text = new Budget(MAX_TEXT);
  private readonly nodes: Node[] = [];
  private readonly losses = new Map<string, Loss>();

  constructor(root: JsonSchema, subset: Subset) {
    this.resolve = createResolver(root);
    this.subset = subset;
  }

  rebuild(root: JsonSchema): Rebuilt {
    const schema: Record<string, unknown> = {};
    this.nodes.push({
      ...{ into: schema, schemas: [root], settled: new Set(), path: '', level: 0 },
      above: undefined,
    });
    // Level by level, so that what is near the root is there when the work is cut off.
    for (const node of this.nodes) this.write(node);
    return { schema, losses: [...this.losses.values()] };
  }

  private write(node: Node): void {
    const { schemas, settled, level } = node;
    const made = choose(schemas, settled, {
      combine: (all, chosen) => combine(all, this.resolve, this.budget, chosen),
      resolve: this.resolve,
      merges: level === 0 || this.nodes.length >= MAX_NODES,
    });
    const { combined } = made;
    const words = [...made.words];
    if (combined.isCut) this.lose(node, 'what is more than a schema should have');
    for (const what of made.lost) this.lose(node, what);
    for (const [keyword, value] of combined.rivals) {
      this.lose(node, keyword);
      if (keyword !== '$ref') words.push(wordOf(keyword, value));
    }
    if (made.alternatives) this.writeAlternatives(node, made, words);
    else this.writeTypes(node, made, words);
  }

  /** `anyOf` stands alone: what applies to all of its schemas is said in each. */
  private writeAlternatives(
    node: Node,
    { combined, alternatives = [], list, chosen, mayBeNull }: Settled,
    words: readonly string[],
  ): void {
    const settled = new Set([...chosen, list]);
    const before = described(node.description ?? combined.keywords.description, words);
    const branches = alternatives.map((branch, index) => {
      const own = combine([branch], this.resolve, this.budget).keywords.description;
      const texts = [index === 0 ? before : undefined, own].filter(text => typeof text === 'string');
      const into = {};
      this.add(node, combined, {
        ...{ into, settled, schemas: [branch, ...node.schemas], level: node.level },
        path: node.path,
        description: texts.join('\n'),
      });
      return into;
    });
    node.into.anyOf = mayBeNull ? [...branches, { type: 'null' }] : branches;
  }

  private writeTypes(node: Node, made: Settled, words: string[]): void {
    const { combined } = made;
    if (node.level === 0) {
      this.writeRoot(node, made, words);
      return;
    }
    const variants = this.variantsOf(node, made, words);
    const isNullable = variants.some(({ type }) => type === 'null');
    const real = variants.filter(({ type }) => type !== 'null');
    if (real.length === 0) {
      this.describe(node, node.into, combined, words);
      if (isNullable) node.into.type = 'null';
      return;
    }
    if (variants.length === 1) {
      this.writeVariant(node, node.into, real[0]!, made, words);
      return;
    }
    const list: unknown[] = [];
    for (const [index, variant] of real.entries()) {
      const into = {};
      this.writeVariant(node, into, variant, made, index === 0 ? words : [], index > 0);
      list.push(into);
    }
    node.into.anyOf = isNullable ? [...list, { type: 'null' }] : list;
  }

  /** Arguments are an object, whatever else is said of them. */
  private writeRoot(node: Node, made: Settled, words: string[]): void {
    const { enum: values } = made.combined.keywords;
    const type = Array.isArray(values) ? this.withoutValues(node, 'object', values, words).type : 'object';
    this.writeVariant(node, node.into, { type }, made, words);
  }

  /** The types a value may have, each with the values it may have. */
  private variantsOf(node: Node, { combined, mayBeNull }: Settled, words: string[]): Variant[] {
    const { keywords } = combined;
    const declared = typesOf(keywords);
    if (Array.isArray(keywords.enum)) {
      const types = keywords.type === undefined ? undefined : declared;
      return this.variantsOfValues(node, keywords.enum, types, mayBeNull, words);
    }
    if (declared && keywords.type === undefined) this.lose(node, `what is no ${declared[0]}`);
    if (!declared && !this.subset.untyped) this.lose(node, 'lists of lists in what may be anything');
    const types = declared ?? (this.subset.untyped ? ['any'] : ANY);
    const isOpen = declared === undefined;
    const variants = types.map((type): Variant => ({ type, isOpen }));
    return mayBeNull && !types.includes('null') && !types.includes('any')
      ? [...variants, { type: 'null' }]
      : variants;
  }

  private variantsOfValues(
    node: Node,
    values: readonly unknown[],
    declared: readonly string[] | undefined,
    mayBeNull: boolean,
    words: string[],
  ): Variant[] {
    const allowed = values.filter(
      value => declared === undefined || declared.some(type => isOf(value, type)),
    );
    if (allowed.length === 0) {
      // None of its values is of its type, so none is right.
      return [this.withoutValues(node, declared?.[0] ?? 'null', values, words)];
    }
    const byType = Map.groupBy(allowed, typeOf);
    const isNumber = byType.has('number');
    // One list for both: what is whole is a number too.
    if (isNumber && byType.has('integer')) {
      byType.set('number', [...byType.get('integer')!, ...byType.get('number')!]);
      byType.delete('integer');
    }
    const variants = [...byType].map(([type, list]) => this.variantOf(node, type, list, declared, words));
    if (mayBeNull && !byType.has('null')) variants.push({ type: 'null' });
    return variants;
  }

  private variantOf(
    node: Node,
    type: string,
    values: readonly unknown[],
    declared: readonly string[] | undefined,
    words: string[],
  ): Variant {
    if (type === 'null') return { type };
    if (type === 'object' || type === 'array') return this.withoutValues(node, type, values, words);
    if (type === 'boolean') {
      return values.length > 1 ? { type } : this.withoutValues(node, type, values, words);
    }
    const kept = this.subset.emptyTexts ? values : values.filter(value => value !== '');
    if (kept.length < values.length) {
      this.lose(node, 'the empty value of enum');
      words.push('may be an empty text');
    }
    const called = type === 'integer' && !declared?.includes('integer') ? 'number' : type;
    if (kept.length === 0) return { type: called };
    return kept.length > MAX_VALUES || !this.text.spend(lengthOf(kept))
      ? this.withoutValues(node, called, kept, words)
      : { type: called, values: kept };
  }

  private withoutValues(node: Node, type: string, values: readonly unknown[], words: string[]): Variant {
    this.lose(node, 'enum');
    words.push(wordOf('enum', values));
    return { type };
  }

  private writeVariant(
    node: Node,
    into: Record<string, unknown>,
    { type, values, isOpen = false }: Variant,
    { combined }: Settled,
    before: readonly string[],
    isOther = false,
  ): void {
    const words = [...before];
    if (type !== 'any') into.type = type;
    if (values) into.enum = values;
    this.writeLimits(node, into, type, combined, words, isOther);
    if (type === 'object') this.writeMembers(node, into, combined, words);
    if (type === 'array' && isOpen) into.items = { anyOf: SIMPLE.map(one => ({ type: one })) };
    else if (type === 'array') this.writeItems(node, into, combined, words);
    if (!isOther) this.describe(node, into, combined, words);
    else if (words.length > 0) into.description = described(undefined, words);
  }

  private describe(
    node: Node,
    into: Record<string, unknown>,
    { keywords }: Combined,
    words: readonly string[],
  ): void {
    if (typeof keywords.title === 'string') into.title = keywords.title;
    const own = node.description ?? keywords.description;
    const isKept = this.subset.defaults && this.isShort(keywords.default);
    if (isKept && keywords.default !== undefined) into.default = keywords.default;
    // That nothing is what is not given need not be said.
    const isUnsaid = isKept || (keywords.default ?? undefined) === undefined;
    const defaults = isUnsaid ? [] : [keywords.default];
    const description = described(own, [...words, ...defaults.map(value => wordOf('default', value))]);
    if (description === undefined) return;
    if (this.text.spend(description.length)) into.description = description;
    else this.lose(node, 'description');
  }

  private isShort(value: unknown): boolean {
    const { length } = brief(value, MAX_DEFAULT);
    return length <= MAX_DEFAULT && this.text.spend(length);
  }

  private writeLimits(
    node: Node,
    into: Record<string, unknown>,
    type: string,
    { keywords }: Combined,
    words: string[],
    isOther: boolean,
  ): void {
    for (const [keyword, value] of Object.entries(keywords)) {
      if (HANDLED.has(keyword) || isNoLimit(value)) continue;
      const about = TYPES_OF.get(keyword);
      // What is about any type is said once.
      if (about ? !about.includes(type) && type !== 'any' : isOther) continue;
      if (about === undefined && !LIMITS_OF_ANY.has(keyword)) continue;
      if (this.isLimitTaken(type, keyword, value)) into[keyword] = value;
      else if (keyword === 'format' && this.subset.formats[type]?.includes(String(value)))
        into.format = value;
      else {
        this.lose(node, keyword);
        words.push(wordOf(keyword, value));
      }
    }
  }

  private isLimitTaken(type: string, keyword: string, value: unknown): boolean {
    const { limits, atMost } = this.subset;
    if (!limits[type]?.includes(keyword) || typeof value !== 'number') return false;
    const isRight = NUMBERS.includes(type) || (Number.isInteger(value) && value >= 0);
    return isRight && value <= (atMost[keyword] ?? Number.POSITIVE_INFINITY);
  }

  private writeMembers(node: Node, into: Record<string, unknown>, combined: Combined, words: string[]): void {
    const { keywords } = combined;
    const named = isObject(keywords.properties) ? Object.entries(keywords.properties) : [];
    const required = new Set([keywords.required].flat().filter(name => typeof name === 'string'));
    const forbidden = named.filter(([, schema]) => schema === false).map(([name]) => name);
    const members = new Map(named.filter(([, schema]) => schema !== false));
    // What is required is there, also when nothing is known of it.
    for (const name of required) if (!members.has(name) && !forbidden.includes(name)) members.set(name, {});
    const others = keywords.additionalProperties;
    const hasMore = members.size > 0 || isObject(others);
    const isTooMuch = hasMore && !this.text.spend(lengthOf([...members.keys(), ...required]));
    if (hasMore && (isTooMuch || !this.mayGoInside(node, combined))) {
      this.lose(node, 'what is inside');
      words.push('its members are not described');
      return;
    }
    if (members.size > 0 || node.level === 0) {
      const properties: Record<string, unknown> = {};
      for (const [name, schema] of members) {
        const inside = {};
        properties[name] = inside;
        this.add(node, combined, {
          ...{ into: inside, schemas: [schema], settled: new Set(), level: node.level + 1 },
          path: `${node.path}/properties/${pointerPart(name)}`,
        });
      }
      into.properties = properties;
    }
    const asked = [...required].filter(name => members.has(name));
    if (asked.length > 0) into.required = asked;
    this.writeOthers(node, into, combined, others);
  }

  private writeOthers(node: Node, into: Record<string, unknown>, combined: Combined, others: unknown): void {
    if (!isObject(others) || Object.keys(others).length === 0) return;
    const inside = {};
    into.additionalProperties = inside;
    this.add(node, combined, {
      ...{ into: inside, schemas: [others], settled: new Set(), level: node.level + 1 },
      path: `${node.path}/additionalProperties`,
    });
  }

  private writeItems(node: Node, into: Record<string, unknown>, combined: Combined, words: string[]): void {
    const { items, prefixItems } = combined.keywords;
    const tuple = Array.isArray(prefixItems) ? distinct(prefixItems) : [];
    const rest = isObject(items) || (items === undefined && tuple.length === 0) ? [items ?? {}] : [];
    const isFull = Array.isArray(prefixItems) && Number(combined.keywords.maxItems) <= prefixItems.length;
    const isOpen = tuple.length > 0 && (items === undefined || items === true) && !isFull;
    const all = distinct([...tuple, ...rest, ...(isOpen ? [{}] : [])]);
    if (tuple.length > 1 || (tuple.length > 0 && rest.length > 0) || isOpen) {
      this.lose(node, 'prefixItems');
      words.push(wordOf('prefixItems', prefixItems));
    }
    const inside: Record<string, unknown> = {};
    into.items = inside;
    if (!this.mayGoInside(node, combined)) {
      this.lose(node, 'what is inside');
      const types = typesOf(combine(all, this.resolve, this.budget).keywords);
      inside.type = types?.length === 1 && types[0] !== 'array' ? types[0] : 'string';
      return;
    }
    const schemas = all.length === 1 ? all : [{ anyOf: all }];
    this.add(node, combined, {
      ...{ into: inside, schemas, settled: new Set(), level: node.level + 1 },
      path: `${node.path}/items`,
    });
  }

  private mayGoInside({ level, above }: Node, { parts }: Combined): boolean {
    if (level >= MAX_LEVEL || this.nodes.length >= MAX_NODES) return false;
    let turns = 0;
    for (let around = above; around; around = around.above) {
      if ([...parts].some(part => around!.parts.has(part))) turns++;
    }
    return turns <= MAX_TURNS;
  }

  private add(outer: Node, { parts }: Combined, node: Omit<Node, 'above'>): void {
    const above = node.level > outer.level ? { parts, above: outer.above } : outer.above;
    this.nodes.push({ ...node, above });
  }

  private lose({ path }: Node, what: string): void {
    this.losses.set(`${path} ${what}`, { path, what });
  }
}

interface Variant {
  /** `any` where nothing is known and nothing need be. */
  readonly type: string;
  readonly values?: readonly unknown[];
  /** May it be of any type? */
  readonly isOpen?: boolean;
}

const SIMPLE = ['string', 'number', 'boolean', 'object'];
/** What a value of no type may be, where each schema needs one. */
const ANY = [...SIMPLE, 'array', 'null'];

const NUMBERS = ['number', 'integer'];
/** Limits that are about values of some types only. */
const TYPES_OF = new Map<string, readonly string[]>([
  ['format', ['string', ...NUMBERS]],
  ['pattern', ['string']],
  ['minLength', ['string']],
  ['maxLength', ['string']],
  ['contentEncoding', ['string']],
  ['contentMediaType', ['string']],
  ['contentSchema', ['string']],
  ['minimum', NUMBERS],
  ['maximum', NUMBERS],
  ['exclusiveMinimum', NUMBERS],
  ['exclusiveMaximum', NUMBERS],
  ['multipleOf', NUMBERS],
  ['minItems', ['array']],
  ['maxItems', ['array']],
  ['uniqueItems', ['array']],
  ['contains', ['array']],
  ['minContains', ['array']],
  ['maxContains', ['array']],
  ['unevaluatedItems', ['array']],
  ['minProperties', ['object']],
  ['maxProperties', ['object']],
  ['patternProperties', ['object']],
  ['propertyNames', ['object']],
  ['dependentRequired', ['object']],
  ['dependentSchemas', ['object']],
]);
const LIMITS_OF_ANY = new Set(['not', CONDITION, '$dynamicRef', '$recursiveRef']);
/** Keywords that are written elsewhere. */
const HANDLED = new Set([
  'type',
  'enum',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'prefixItems',
]);

/** Writers of schemas say of whole numbers that they are those that JavaScript can tell apart. */
function isNoLimit(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) >= Number.MAX_SAFE_INTEGER;
}

/** As declared, or as what else is said tells; `undefined` where nothing does. */
function typesOf(keywords: JsonSchema): readonly string[] | undefined {
  const { type } = keywords;
  const declared = [type].flat().filter(one => typeof one === 'string');
  if (declared.length > 0) {
    // What is whole is a number too.
    return declared.includes('number') ? declared.filter(one => one !== 'integer') : declared;
  }
  const told = new Set(
    Object.keys(keywords).flatMap(keyword => (keyword === 'format' ? [] : (TOLD_BY.get(keyword) ?? []))),
  );
  return told.size === 1 ? [...told] : undefined;
}

const TOLD_BY = new Map<string, string>([
  ['properties', 'object'],
  ['required', 'object'],
  ['additionalProperties', 'object'],
  ['patternProperties', 'object'],
  ['items', 'array'],
  ['prefixItems', 'array'],
]);

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function isOf(value: unknown, type: string): boolean {
  const own = typeOf(value);
  return own === type || (own === 'integer' && type === 'number');
}

/** Of a default, in characters. */
const MAX_DEFAULT = 1_000;
const MAX_COMPARED = 300;

function distinct(schemas: readonly unknown[]): unknown[] {
  const found = new Map<unknown, unknown>();
  for (const schema of schemas) {
    const text = brief(schema, MAX_COMPARED);
    // What is longer is told apart without reading it.
    found.set(text.length > MAX_COMPARED ? schema : text, schema);
  }
  return [...found.values()];
}

/** In characters. */
function lengthOf(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + String(value).length, 0);
}

function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
