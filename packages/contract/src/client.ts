import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { z } from 'zod';
import { sendsBody } from './operation.ts';
import { OPERATIONS, type OperationByName, type OperationName } from './operations.ts';

/** What a caller gives an operation: arguments with a default may be left out. */
export type OperationInput<N extends OperationName> = z.input<OperationByName<N>['input']>;
export type OperationOutput<N extends OperationName> = z.output<OperationByName<N>['output']>;

/**
 * Why a call has no result. `status` is the HTTP status, 0 when nothing was answered. `code` and `message` are the
 * platform's own; besides those, `code` is `unreachable` (nobody answers), `unexpected_answer` (somebody who is no
 * Patchbay does) or `invalid_param` with status 0 (the address of the call cannot be built).
 */
export class ClientError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    options: { details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ClientError';
    this.status = status;
    this.code = code;
    this.details = options.details;
  }
}

export interface Client {
  /**
   * Calls one operation over REST and resolves to its output. Rejects with `ClientError`, or with the signal's reason
   * once it aborts. The output is typed by the definition and not validated again: a newer platform may add members.
   */
  call<N extends OperationName>(
    name: N,
    args: OperationInput<N>,
    options?: CallOptions,
  ): Promise<OperationOutput<N>>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Hears the reply of an agent while it is given; `index` says which bubble of it. Only where the operation streams its result. */
  readonly onDelta?: (text: string, index: number) => void;
}

/** A client of one platform. `baseUrl` may carry a path prefix; `token` goes into `Authorization` and nowhere else. */
export function createClient(config: {
  readonly baseUrl: string;
  readonly token?: string | undefined;
  readonly fetch: typeof fetch;
}): Client {
  const baseUrl = config.baseUrl.replace(/\/+$/, '');

  async function call<N extends OperationName>(
    name: N,
    args: OperationInput<N>,
    options: CallOptions = {},
  ): Promise<OperationOutput<N>> {
    const { method, path, body } = toRequest(name, args as Record<string, unknown>);
    let status: number;
    let text: string;
    try {
      const response = await config.fetch(`${baseUrl}/api/v1${path}`, {
        method,
        headers: {
          accept: options.onDelta ? 'text/event-stream, application/json' : 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(config.token === undefined ? {} : { authorization: `Bearer ${config.token}` }),
        },
        ...(body === undefined ? {} : { body }),
        ...(options.signal ? { signal: options.signal } : {}),
      });
      if (options.onDelta && response.body && isEventStream(response))
        return (await readFrames(response.body, options.onDelta)) as OperationOutput<N>;
      status = response.status;
      text = await response.text();
    } catch (cause) {
      if (options.signal?.aborted) throw options.signal.reason;
      if (cause instanceof ClientError) throw cause;
      throw new ClientError(0, 'unreachable', `No Patchbay answers at ${baseUrl}.`, { cause });
    }
    const answer = status === 204 ? {} : parseObject(text);
    if (answer && status >= 200 && status < 300) return answer as OperationOutput<N>;
    throw toClientError(status, answer, baseUrl);
  }

  return { call };
}

function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** The result of a call that is streamed, see `turnStream`. */
async function readFrames(
  body: ReadableStream<Uint8Array>,
  onDelta: NonNullable<CallOptions['onDelta']>,
): Promise<unknown> {
  const events = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream());
  for await (const { data } of events) {
    const frame = JSON.parse(data) as {
      readonly type: string;
      readonly text: string;
      readonly index: number;
      readonly error: {
        readonly code: string;
        readonly message: string;
        readonly details?: Record<string, unknown>;
      };
      readonly result?: unknown;
    };
    if (frame.type === 'delta') onDelta(frame.text, frame.index);
    if (frame.type === 'error')
      throw new ClientError(200, frame.error.code, frame.error.message, frame.error);
    if (frame.type === 'done') return frame.result;
  }
  throw new ClientError(0, 'unreachable', 'The answer ended before its end.');
}

/** Method, path with query, and body of a call, as the definition's route says. */
function toRequest(
  name: OperationName,
  args: Record<string, unknown>,
): { method: string; path: string; body: string | undefined } {
  const { rest } = OPERATIONS.find(operation => operation.name === name)!;
  const remaining = new Map(Object.entries(args).filter(([, value]) => value !== undefined));
  const path = rest.path.replace(/\{(\w+)\}/g, (_, parameter: string) => {
    const value = remaining.get(parameter);
    remaining.delete(parameter);
    if (value === undefined || value === null) {
      throw new ClientError(0, 'invalid_param', `Missing required argument: ${parameter}`);
    }
    // URL parsers drop or merge such segments, also percent-encoded, and the call would reach another route.
    if (value === '' || value === '.' || value === '..') {
      throw new ClientError(0, 'invalid_param', `Invalid argument ${parameter}: '${value}' names nothing`);
    }
    return encodeURIComponent(String(value));
  });
  if (sendsBody(rest.method)) {
    return { method: rest.method, path, body: JSON.stringify(Object.fromEntries(remaining)) };
  }
  const query = new URLSearchParams();
  for (const [key, value] of remaining) {
    // In a query, absent is the only way to say null.
    if (value === null) continue;
    query.set(key, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  return { method: rest.method, path: query.size > 0 ? `${path}?${query}` : path, body: undefined };
}

function toClientError(
  status: number,
  answer: Record<string, unknown> | undefined,
  baseUrl: string,
): ClientError {
  const error = asObject(answer?.error);
  if (typeof error?.code === 'string' && typeof error.message === 'string') {
    const details = asObject(error.details);
    return new ClientError(status, error.code, error.message, details ? { details } : {});
  }
  return new ClientError(
    status,
    'unexpected_answer',
    `${baseUrl} answered with status ${status} and not as a Patchbay does; check the address.`,
  );
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}
