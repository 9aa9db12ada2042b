import { Budget, type FlatSchema, Flattener } from './flatten-schema.ts';
import { governDescription } from './govern-text.ts';
import { createResolver } from './json-schema.ts';

/** What models that answer in a structure understand of a schema. */
export interface NormalSchema {
  type?: string;
  description?: string;
  enum?: readonly unknown[];
  properties?: Record<string, NormalSchema>;
  items?: NormalSchema;
  required?: readonly string[];
}

/** The root is level 0, its properties are level 1. */
const MAX_LEVEL = 6;
/** Schemas, names and values: a schema that would be larger has fields without structure. */
const MAX_WORK = 5_000;
const MAX_DESCRIPTION = 1024;
/** Of the description, for what it says of limits. */
const MAX_LIMITS = 500;

interface Field {
  readonly schemas: readonly unknown[];
  readonly level: number;
  readonly into: NormalSchema;
}

/**
 * The schema of a server in the few keywords that models understand. What these cannot say, such as limits, stands in the
 * descriptions; what lies below level 6, in another document, or in more than a schema should have, is a field without
 * structure. Descriptions are governed. Takes bounded time whatever the schema; doing it again changes nothing.
 */
export function normalizeSchema(root: unknown): NormalSchema {
  const flattener = new Flattener(createResolver(root), new Budget(MAX_WORK));
  const whole: NormalSchema = {};
  const fields: Field[] = [{ schemas: [root], level: 0, into: whole }];
  // Level by level, so that what is near the root is there when the work is cut off.
  for (const { schemas, level, into } of fields) {
    const flat = flattener.flatten(schemas, level <= MAX_LEVEL);
    fields.push(...fill(into, flat, level));
  }
  return whole;
}

/** Writes what is known of a field into it, and answers with the fields inside that are to be filled. */
function fill(into: NormalSchema, flat: FlatSchema, level: number): Field[] {
  const type = flat.type ?? typeOf(flat.values);
  const description = describe(flat);
  if (type !== undefined) into.type = type;
  if (description !== '') into.description = description;
  if (flat.values) into.enum = flat.values;
  if (flat.isTooLarge) return [];
  if (type === 'array' && flat.items.length > 0) {
    into.items = {};
    return [{ schemas: flat.items, level: level + 1, into: into.items }];
  }
  return type === 'object' && flat.properties.size > 0 ? fillProperties(into, flat, level) : [];
}

function fillProperties(into: NormalSchema, { properties, required }: FlatSchema, level: number): Field[] {
  const inside: Record<string, NormalSchema> = {};
  into.properties = inside;
  if (required.size > 0) into.required = [...required];
  return [...properties].map(([name, schemas]) => {
    const field: NormalSchema = {};
    inside[name] = field;
    return { schemas, level: level + 1, into: field };
  });
}

/** The type that all values have, if they have one. */
function typeOf(values: readonly unknown[] | undefined): string | undefined {
  const types = new Set(values?.map(value => (Array.isArray(value) ? 'array' : typeof value)));
  const [type] = types;
  return types.size === 1 ? type : undefined;
}

function describe({ description = '', constraints, mayBeNull, type }: FlatSchema): string {
  const limits = [...constraints, ...(mayBeNull && type !== 'null' ? ['may be null'] : [])].join('; ');
  if (limits === '') return description;
  const shown = limits.length > MAX_LIMITS ? `${limits.slice(0, MAX_LIMITS)}…` : limits;
  const room = MAX_DESCRIPTION - shown.length - 4;
  const text = description.length > room ? `${description.slice(0, room)}…` : description;
  return governDescription(text === '' ? shown : `${text} (${shown})`);
}
