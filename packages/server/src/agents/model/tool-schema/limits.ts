import type { JsonSchema } from '../../../connections/tool/json-schema.ts';
import { CONDITION } from './combine-schemas.ts';
import type { Notes, Subset } from './rebuild-schema.ts';
import { wordOf } from './words.ts';

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

const OF_ANY_TYPE = new Set(['not', CONDITION, '$dynamicRef', '$recursiveRef']);

/**
 * The limits of a schema that a subset takes for values of a type; what it does not take is noted. `isOther` says that the schema has another
 * type besides, where that is noted which is about any type.
 */
export function limitsOf(
  keywords: JsonSchema,
  type: string,
  { subset, isOther, notes }: { readonly subset: Subset; readonly isOther: boolean; readonly notes: Notes },
): Readonly<Record<string, unknown>> {
  const taken: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(keywords)) {
    const types = TYPES_OF.get(keyword);
    const isAbout = types ? type === 'any' || types.includes(type) : OF_ANY_TYPE.has(keyword) && !isOther;
    if (!isAbout || isNoLimit(value)) continue;
    if (isTaken(keyword, value, type, subset)) taken[keyword] = value;
    else notes.lose(keyword, wordOf(keyword, value));
  }
  return taken;
}

function isTaken(
  keyword: string,
  value: unknown,
  type: string,
  { formats, limits, atMost }: Subset,
): boolean {
  if (keyword === 'format') return formats[type]?.includes(String(value)) === true;
  if (!limits[type]?.includes(keyword) || typeof value !== 'number') return false;
  const isRight = NUMBERS.includes(type) || (Number.isInteger(value) && value >= 0);
  return isRight && value <= (atMost[keyword] ?? Number.POSITIVE_INFINITY);
}

/** Writers of schemas say of whole numbers that they are those that JavaScript can tell apart. */
function isNoLimit(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) >= Number.MAX_SAFE_INTEGER;
}
