import { isObject } from '../../kernel/json.ts';
import { createResolver, type JsonSchema } from '../tool/json-schema.ts';

/** Schemas that are looked at for one value. */
const MAX_ALTERNATIVES = 50;
const NUMBER = /^-?(?:0|[1-9][0-9]{0,300})(?:\.[0-9]{1,300})?(?:[eE][+-]?[0-9]{1,3})?$/;

/**
 * Arguments whose texts are numbers, integers and truth values where the tool takes those and no text: what people say is text, and a
 * template makes text of it. A text that is not exactly such a value stays what it is, for the validation to refuse.
 */
export function typedArguments(
  given: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
): Readonly<Record<string, unknown>> {
  return new Typing(schema).typed(given, schema) as Readonly<Record<string, unknown>>;
}

/** What one schema says about the values of one call, found out once. */
class Typing {
  private readonly resolve;
  private readonly alternatives = new Map<JsonSchema, readonly JsonSchema[]>();
  private readonly types = new Map<JsonSchema, ReadonlySet<unknown> | undefined>();

  constructor(root: JsonSchema) {
    this.resolve = createResolver(root);
  }

  typed(value: unknown, schema: unknown): unknown {
    if (!isObject(schema)) return value;
    if (typeof value === 'string') return typedText(value, this.typesOf(schema));
    if (typeof value !== 'object' || value === null) return value;
    const schemas = this.alternativesOf(schema);
    if (Array.isArray(value)) {
      const items = schemas.map(one => one.items).find(isObject);
      return items ? value.map(entry => this.typed(entry, items)) : value;
    }
    const properties = schemas.map(one => one.properties).filter(isObject);
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        this.typed(member, properties.find(one => Object.hasOwn(one, name))?.[name]),
      ]),
    );
  }

  /** The types a value may have; `undefined` where any will do. */
  private typesOf(schema: JsonSchema): ReadonlySet<unknown> | undefined {
    if (!this.types.has(schema)) this.types.set(schema, typesIn(this.alternativesOf(schema)));
    return this.types.get(schema);
  }

  /** The schema and what it refers to or offers to choose from. */
  private alternativesOf(schema: JsonSchema): readonly JsonSchema[] {
    const known = this.alternatives.get(schema);
    if (known) return known;
    const found = new Set([schema]);
    // The set grows while it is walked.
    for (const { $ref, anyOf, oneOf } of found) {
      const target = typeof $ref === 'string' ? this.resolve($ref) : undefined;
      for (const one of [target, ...listOf(anyOf), ...listOf(oneOf)]) {
        if (found.size < MAX_ALTERNATIVES && isObject(one)) found.add(one);
      }
    }
    this.alternatives.set(schema, [...found]);
    return [...found];
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MAX_ALTERNATIVES) : [];
}

function typesIn(schemas: readonly JsonSchema[]): ReadonlySet<unknown> | undefined {
  const types = new Set<unknown>();
  for (const { type, anyOf, oneOf, $ref } of schemas) {
    if (type !== undefined) for (const name of [type].flat()) types.add(name);
    else if (anyOf === undefined && oneOf === undefined && $ref === undefined) return undefined;
  }
  return types;
}

function typedText(text: string, types: ReadonlySet<unknown> | undefined): unknown {
  if (!types || types.has('string')) return text;
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (!(types.has('number') || types.has('integer')) || !NUMBER.test(text)) return text;
  const number = Number(text);
  if (types.has('number')) return Number.isFinite(number) ? number : text;
  return Number.isSafeInteger(number) ? number : text;
}
