import type { JsonSchema } from '../../../connections/tool/json-schema.ts';
import { isObject } from '../../../kernel/json.ts';

/**
 * What a schema says in the words of older drafts, in those of 2020-12: limits that are exclusive by a flag, lists of schemas under
 * `items`, `dependencies`. It means the same; the same object where there is nothing to say otherwise. Schemas inside stay as they are.
 */
export function modernise(schema: JsonSchema): JsonSchema {
  const isOld =
    typeof schema.exclusiveMinimum === 'boolean' ||
    typeof schema.exclusiveMaximum === 'boolean' ||
    Array.isArray(schema.items) ||
    schema.dependencies !== undefined;
  if (!isOld) return schema;
  const modern: Record<string, unknown> = { ...schema };
  exclusive(modern, 'minimum', 'exclusiveMinimum');
  exclusive(modern, 'maximum', 'exclusiveMaximum');
  tuple(modern);
  dependencies(modern);
  return modern;
}

function exclusive(schema: Record<string, unknown>, limit: string, flag: string): void {
  const isExclusive = schema[flag];
  if (typeof isExclusive !== 'boolean') return;
  delete schema[flag];
  if (!isExclusive || typeof schema[limit] !== 'number') return;
  schema[flag] = schema[limit];
  delete schema[limit];
}

function tuple(schema: Record<string, unknown>): void {
  const { items, additionalItems } = schema;
  if (!Array.isArray(items)) return;
  delete schema.items;
  delete schema.additionalItems;
  // A list without schemas says nothing, and is not allowed.
  if (items.length > 0) schema.prefixItems = items;
  if (additionalItems !== undefined) schema.items = additionalItems;
}

function dependencies(schema: Record<string, unknown>): void {
  if (!isObject(schema.dependencies)) {
    delete schema.dependencies;
    return;
  }
  const all = Object.entries(schema.dependencies);
  delete schema.dependencies;
  const names = all.filter(([, one]) => Array.isArray(one));
  const schemas = all.filter(([, one]) => isObject(one) || typeof one === 'boolean');
  if (names.length > 0)
    schema.dependentRequired = { ...Object.fromEntries(names), ...object(schema.dependentRequired) };
  if (schemas.length > 0)
    schema.dependentSchemas = { ...Object.fromEntries(schemas), ...object(schema.dependentSchemas) };
}

function object(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}
