import { z } from 'zod';
import type { ErrorKind } from './errors.ts';
import type { Tier } from './roles.ts';

/** A chapter of the reference: the operations one file defines. */
export interface Family {
  readonly name: string;
  readonly description: string;
}

/**
 * An operation is defined once (architecture, idea 1). The operator-door tool, the REST route, the CLI command, the OpenAPI
 * document and the reference page are all read from this value, so they cannot disagree about names, defaults or rights.
 */
export interface OperationDefinition<
  In extends z.ZodObject = z.ZodObject,
  Out extends z.ZodObject = z.ZodObject,
> {
  /** Wire name, snake_case; the file that implements it carries it too. */
  readonly name: string;
  readonly family: Family;
  /** For people, in the lists of hosts. */
  readonly title: string;
  /** For models: what it does, when to use it. */
  readonly description: string;
  /** Every argument has a description. What is optional says so there, and publishes its literal default (E-14, E-15). */
  readonly input: In;
  readonly output: Out;
  /**
   * What it refuses by its own rules, besides what every operation may answer (`operation-errors.ts`). The tests provoke these
   * one by one. The talking operations answer a busy or ended conversation with a status, which is no error.
   */
  readonly errors: readonly ErrorKind[];
  readonly tier: Tier;
  /**
   * Where one argument decides who may: a call without it needs this narrower tier (E-60, E-62). Lists show the operation to
   * whom `tier` admits, who can call it with the argument.
   */
  readonly tierWithout?: { readonly argument: string; readonly tier: Tier };
  /** Listed at the operator door. The rest is for REST and the CLI. */
  readonly tool: boolean;
  /** Arguments that the operator door does not have. */
  readonly restOnly?: readonly string[];
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  /** `false` where people's own things come and go all day: what changes is no event of the platform's audit trail. */
  readonly noted?: false;
  /** Runs an agent's turn: may take long, reports progress, can be cancelled. */
  readonly runsTurn: boolean;
  readonly rest: {
    readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
    /** Below `/api/v1`; `{name}` segments are arguments, the rest comes from the query (GET, DELETE) or the JSON body. */
    readonly path: `/${string}`;
    /** 204 answers nothing, whatever the output. */
    readonly successStatus?: 200 | 201 | 202 | 204;
    /**
     * `agents`: one of the routes beside the agent door. A user key with the scope `agents` opens it too, and a route that runs
     * a turn counts as a call of the agent. Every other route asks for the scope `operator`.
     */
    readonly surface?: 'agents';
    /** Server-sent events for callers that accept `text/event-stream`; others get the output as one JSON. */
    readonly stream?: {
      /** One frame: the JSON of one event. */
      readonly frame: z.ZodType;
      /** What follows the error of a call that failed on its stream, so that the last frame is always of one kind. */
      readonly last: Readonly<Record<string, unknown>>;
    };
  };
  /** Where the seed's text is prose: how the output reads (decisions.md 4, Results). JSON where this is left out. */
  asText?(output: z.output<Out>): string;
  /** Arguments of calls that work on a fresh installation; docs and tests run them. */
  readonly examples: readonly Record<string, unknown>[];
}

/** Keeps the literal types of a definition. */
export function defineOperation<const N extends string, In extends z.ZodObject, Out extends z.ZodObject>(
  definition: OperationDefinition<In, Out> & { readonly name: N },
): OperationDefinition<In, Out> & { readonly name: N } {
  return definition;
}

/** The methods whose arguments stand in a JSON body; those of the others stand in the query. */
export function sendsBody(method: OperationDefinition['rest']['method']): boolean {
  return method === 'POST' || method === 'PUT' || method === 'PATCH';
}

/** The arguments as every surface publishes them (JSON Schema 2020-12). */
export interface PublishedInput {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, PublishedArgument>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

export interface PublishedArgument {
  /** Several where it is written either way. */
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
}

const published = new WeakMap<z.ZodObject, PublishedInput>();

/** Made once for each definition; every reader of an operation's arguments reads this. */
export function publishedInput({ input }: { readonly input: z.ZodObject }): PublishedInput {
  let schema = published.get(input);
  if (!schema) {
    const { $schema: _, ...rest } = z.toJSONSchema(input, { io: 'input' });
    schema = {
      properties: {},
      required: [],
      ...rest,
      type: 'object',
      additionalProperties: false,
    } as PublishedInput;
    published.set(input, schema);
  }
  return schema;
}

/** The same at the operator door. */
export function publishedToolInput(
  definition: Pick<OperationDefinition, 'input' | 'restOnly'>,
): PublishedInput {
  const published = publishedInput(definition);
  const { restOnly = [] } = definition;
  if (restOnly.length === 0) return published;
  const properties = Object.fromEntries(
    Object.entries(published.properties).filter(([name]) => !restOnly.includes(name)),
  );
  return { ...published, properties };
}

/** Annotations of an operation that only reads. */
export const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
/** Annotations of an operation that replaces something by a later version of it. */
export const UPDATES = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
} as const;
/** Annotations of an operation that takes something away. */
export const DELETES = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: false,
} as const;
/** Annotations of an operation that makes something as it is told, once or again. */
export const SETS = { ...UPDATES, idempotentHint: true } as const;
/** Annotations of an operation that ends or removes something, and finds it ended or gone when it is called again. */
export const REMOVES = { ...DELETES, idempotentHint: true } as const;
/** Annotations of an operation that adds something, each time it is called (E-04). */
export const CREATES = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
} as const;
/** Annotations of an operation that has an agent run: what it does may reach any server its configuration names. */
export const RUNS_AGENT = { ...CREATES, openWorldHint: true } as const;
