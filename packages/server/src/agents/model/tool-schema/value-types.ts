import type { JsonSchema } from '../../../connections/tool/json-schema.ts';
import type { Settled } from './choices.ts';
import type { Notes, Subset } from './rebuild-schema.ts';
import { wordOf } from './words.ts';

/** One type that a value may have. */
export interface Variant {
  /** `any` where nothing is known and nothing need be. */
  readonly type: string;
  /** The only values of it. */
  readonly values?: readonly unknown[];
  /** Is it one of all types, because nothing is known? */
  readonly isOpen?: boolean;
}

/** What a value of no type is made of where each schema needs one, and what its lists are. */
export const SIMPLE = ['string', 'number', 'boolean', 'object'];
const ANY = [...SIMPLE, 'array', 'null'];
/** Values of one list: grammars have a rule for each. */
export const MAX_VALUES = 256;

/** The types a value may have, each once, `null` too. At least one. */
export function variantsOf({ combined, mayBeNull }: Settled, subset: Subset, notes: Notes): Variant[] {
  const { keywords } = combined;
  const declared = typesOf(keywords);
  const variants = Array.isArray(keywords.enum)
    ? variantsOfValues(keywords.enum, keywords.type === undefined ? undefined : declared, subset, notes)
    : variantsOfTypes(declared, keywords, subset, notes);
  const hasNull = variants.some(({ type }) => type === 'null' || type === 'any');
  return mayBeNull && !hasNull ? [...variants, { type: 'null' }] : variants;
}

function variantsOfTypes(
  declared: readonly string[] | undefined,
  { type }: JsonSchema,
  { untyped }: Subset,
  notes: Notes,
): Variant[] {
  if (declared) {
    if (type === undefined) notes.lose(`what is no ${declared[0]}`);
    return declared.map(one => ({ type: one }));
  }
  if (untyped) return [{ type: 'any' }];
  notes.lose('lists of lists in what may be anything');
  return ANY.map(one => ({ type: one, isOpen: true }));
}

function variantsOfValues(
  values: readonly unknown[],
  declared: readonly string[] | undefined,
  subset: Subset,
  notes: Notes,
): Variant[] {
  const allowed = values.filter(value => !declared || declared.some(type => isOf(value, type)));
  if (allowed.length === 0) {
    // None of its values is of its type, so none is right.
    notes.lose('enum', wordOf('enum', values));
    return [{ type: declared?.[0] ?? 'null' }];
  }
  const isWhole = declared?.includes('integer') === true;
  const byType = Map.groupBy(allowed, value => {
    const type = typeOf(value);
    return type === 'integer' && !isWhole ? 'number' : type;
  });
  return [...byType].map(([type, list]) => variantOf(type, list, subset, notes));
}

function variantOf(type: string, values: readonly unknown[], { emptyTexts }: Subset, notes: Notes): Variant {
  if (type === 'null' || (type === 'boolean' && values.length > 1)) return { type };
  const isListed = ['string', 'number', 'integer'].includes(type) && values.length <= MAX_VALUES;
  if (!isListed) {
    notes.lose('enum', wordOf('enum', values));
    return { type };
  }
  const kept = emptyTexts ? values : values.filter(value => value !== '');
  if (kept.length < values.length) notes.lose('the empty value of enum', 'may be an empty text');
  return kept.length === 0 ? { type } : { type, values: kept };
}

/** As declared, or as what else is said tells; `undefined` where nothing does. */
export function typesOf(keywords: JsonSchema): readonly string[] | undefined {
  const declared = [keywords.type].flat().filter(one => typeof one === 'string');
  if (declared.length > 0) {
    // What is whole is a number too.
    return declared.includes('number') ? declared.filter(one => one !== 'integer') : declared;
  }
  const told = new Set(Object.keys(keywords).flatMap(keyword => TOLD_BY.get(keyword) ?? []));
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
