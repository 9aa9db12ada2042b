import { z } from 'zod';
import type { ErrorKind } from './errors.ts';
import recorded from './examples.generated.json' with { type: 'json' };
import { type Family, type PublishedInput, publishedInput } from './operation.ts';
import { errorsOf } from './operation-errors.ts';
import { OPERATIONS, type Operation, type OperationName } from './operations.ts';
import { type Role, TIERS } from './roles.ts';

/** The chapters of the reference, in the order of their first operations. */
export const FAMILIES: readonly Family[] = [...new Set(OPERATIONS.map(({ family }) => family))];

/** One call of an operation and what the platform answered. Ids are made up, long texts are cut. */
export interface RecordedExample {
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly answer: Readonly<Record<string, unknown>>;
}

/** Recorded in the order of `OPERATIONS`, so that later calls may use ids from earlier answers. */
export type RecordedExamples = Readonly<Partial<Record<OperationName, RecordedExample>>>;

/** A schema in the form of JSON Schema 2020-12, as far as readers of it need to know. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly anyOf?: readonly JsonSchema[];
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly [keyword: string]: unknown;
}

/** Everything a reference says about one operation; the OpenAPI document and the reference page are two ways to print it. */
export interface OperationReference {
  readonly definition: Operation;
  readonly roles: readonly Role[];
  readonly arguments: PublishedInput;
  readonly answer: JsonSchema;
  /** One event of the stream, where the route has one. */
  readonly frame: JsonSchema | undefined;
  readonly successStatus: 200 | 201 | 202 | 204;
  readonly errors: readonly ErrorKind[];
  readonly example: RecordedExample | undefined;
}

/** The operations, in the order of `OPERATIONS`. */
export function describeOperations(
  examples: RecordedExamples = recorded as RecordedExamples,
): readonly OperationReference[] {
  return (OPERATIONS as readonly Operation[]).map(definition => ({
    definition,
    roles: TIERS[definition.tier],
    arguments: publishedInput(definition),
    answer: answerSchema(definition),
    frame: definition.rest.stream && answerSchema({ output: definition.rest.stream.frame }),
    successStatus: definition.rest.successStatus ?? 200,
    errors: errorsOf(definition),
    example: examples[definition.name],
  }));
}

/** As answers are: a newer platform may add members, so no object is closed. */
export function answerSchema({ output }: { readonly output: z.ZodType }): JsonSchema {
  const { $schema: _, ...schema } = z.toJSONSchema(output, {
    io: 'input',
    override({ jsonSchema }) {
      // Bounds that every JSON number in JavaScript has, and keys that are always text, say nothing.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      delete jsonSchema.propertyNames;
    },
  });
  return schema as JsonSchema;
}
