import { isObject } from '../../kernel/json.ts';
import { holdsSchemas, mapSubschemas } from './json-schema.ts';

/** Keywords whose texts a call or a check needs as they are: names, values, patterns, references. */
const NEEDED = new Set([
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$id',
  '$recursiveRef',
  '$ref',
  '$schema',
  '$vocabulary',
  'const',
  'contentEncoding',
  'contentMediaType',
  'dependencies',
  'dependentRequired',
  'enum',
  'format',
  'id',
  'pattern',
  'required',
  'type',
]);

/**
 * A copy of a schema with each of its texts changed that nobody needs as it is: descriptions, titles, defaults, examples, and whatever
 * stands under keywords that JSON Schema does not have. Names of members stay.
 */
export function mapTexts(schema: unknown, change: (text: string, keyword: string) => string): unknown {
  if (!isObject(schema)) return schema;
  const inside = mapSubschemas(schema, one => mapTexts(one, change));
  return Object.fromEntries(
    Object.entries(inside).map(([keyword, value]) => [
      keyword,
      NEEDED.has(keyword) || holdsSchemas(keyword) ? value : changed(value, text => change(text, keyword)),
    ]),
  );
}

function changed(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map(one => changed(one, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, changed(one, change)]));
}
