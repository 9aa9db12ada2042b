import type { JsonSchema } from '../../../connections/tool/json-schema.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Notes } from './rebuild-schema.ts';
import { brief, wordOf } from './words.ts';

/** The schemas of what may be in a list, wherever it is in it: one has to apply. That there is an order is noted. */
export function itemsOf({ items, prefixItems, maxItems }: JsonSchema, notes: Notes): readonly unknown[] {
  if (!Array.isArray(prefixItems)) return [isObject(items) ? items : {}];
  const isFull = items === false || Number(maxItems) <= prefixItems.length;
  const rest = isFull ? [] : [isObject(items) ? items : {}];
  const all = distinct([...prefixItems, ...rest]);
  if (all.length > 1) notes.lose('prefixItems', wordOf('prefixItems', prefixItems));
  return all;
}

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
