import { z } from 'zod';
import type { ErrorKind } from './errors.ts';
import recorded from './examples.generated.json' with { type: 'json' };
import { type PublishedInput, publishedInput } from './operation.ts';
import { errorsOf } from './operation-errors.ts';
import * as agents from './operations/agents.ts';
import * as conversation from './operations/conversation.ts';
import * as docs from './operations/docs.ts';
import * as keys from './operations/keys.ts';
import { OPERATIONS, type Operation, type OperationName } from './operations.ts';
import { type Role, TIERS } from './roles.ts';

/** A chapter of the reference: the operations one file defines. */
export interface Family {
  readonly name: string;
  readonly description: string;
}

/** In the order of the reference. A new file of operations is added here. */
export const FAMILIES: readonly (Family & { readonly file: Readonly<Record<string, unknown>> })[] = [
  { name: 'Conversations', description: 'Talk to agents, and read what was said.', file: conversation },
  { name: 'Agents', description: 'Find, look at and deploy agents.', file: agents },
  { name: 'Documentation', description: 'The pages of this documentation.', file: docs },
  { name: 'Keys', description: 'Your own keys, whatever your role.', file: keys },
];

/** One call of an operation and what the platform answered. Ids are made up, long texts are cut. */
export interface RecordedExample {
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly answer: Readonly<Record<string, unknown>>;
}

/** Recorded in the order of `OPERATIONS`, so that later calls may use ids from earlier answers. */
export type RecordedExamples = Readonly<Partial<Record<OperationName, RecordedExample>>>;

/** A schema in the form of JSON Schema 2020-12, as far as readers of it need to know. */
export interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
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
  readonly family: Family;
  readonly roles: readonly Role[];
  readonly arguments: PublishedInput;
  readonly answer: JsonSchema;
  readonly successStatus: 200 | 201;
  readonly errors: readonly ErrorKind[];
  readonly example: RecordedExample | undefined;
}

/** The operations, in the order of `OPERATIONS`. */
export function describeOperations(
  examples: RecordedExamples = recorded as RecordedExamples,
): readonly OperationReference[] {
  return (OPERATIONS as readonly Operation[]).map(definition => ({
    definition,
    family: familyOf(definition),
    roles: TIERS[definition.tier],
    arguments: publishedInput(definition),
    answer: answerSchema(definition),
    successStatus: definition.rest.successStatus ?? 200,
    errors: errorsOf(definition),
    example: examples[definition.name],
  }));
}

function familyOf(definition: Operation): Family {
  const family = FAMILIES.find(({ file }) => Object.values(file).includes(definition));
  if (!family) throw new Error(`${definition.name} belongs to no family: add its file to FAMILIES.`);
  return family;
}

/** As answers are: a newer platform may add members, so no object is closed. */
function answerSchema({ output }: Operation): JsonSchema {
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
