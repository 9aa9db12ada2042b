import { isAgentId } from '@patchbay/contract/ids';
import { publishedInput, sendsBody } from '@patchbay/contract/operation';
import { OPERATIONS, type Operation } from '@patchbay/contract/operations';
import { Hono } from 'hono';
import { PlatformError, toPlatformError } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import type { Principal } from '../../kernel/principal.ts';
import { type CallStream, plainCall } from '../../operations/bind.ts';
import type { Operations } from '../../operations/invoke.ts';
import type { CallRate } from '../agent-mcp/call-rate.ts';
import { readJsonBody } from '../http/body.ts';
import type { OpenCredentials } from '../http/open-credentials.ts';
import type { RequestScope, ScopedEnv } from '../http/request-scope.ts';

import { createFrameStream, type FrameStream } from './event-stream.ts';

/** Who is asking, as the route's surface wants it; rejects with `unauthenticated`. */
export type Authenticate = (
  request: Request,
  scope: RequestScope,
  surface?: Operation['rest']['surface'],
) => Promise<Principal>;

/** Bytes the body of a route beside the agent door may have (BX-11), where the platform takes as many. */
const MAX_AGENT_BODY_BYTES = 1024 * 1024;

/** The REST surface: one route an operation, read from its definition (architecture, idea 1). */
export function createRest(deps: {
  readonly operations: Operations;
  readonly maxBodyBytes: number;
  readonly authenticate: Authenticate;
  /** Calls of an agent count the same here and at its door (B-73). */
  readonly rate: CallRate;
  readonly onRateLimited: (agentId: string, principal: Principal) => void;
  readonly openCredentials: OpenCredentials;
}): Hono<ScopedEnv> {
  const { operations, authenticate } = deps;
  const app = new Hono<ScopedEnv>();
  for (const definition of OPERATIONS as readonly Operation[]) {
    const { method, path, successStatus = 200, surface, stream } = definition.rest;
    const readQuery = queryReader(definition);
    const maxBodyBytes =
      surface === 'agents' ? Math.min(deps.maxBodyBytes, MAX_AGENT_BODY_BYTES) : deps.maxBodyBytes;
    app.on(method, path.replaceAll(/\{(\w+)\}/g, ':$1'), async c => {
      const request = c.req.raw;
      const scope = c.get('scope');
      const principal = await authenticate(request, scope, surface);
      const inPath: Record<string, string> = c.req.param();
      if (surface === 'agents' && definition.runsTurn) await countCall(principal, inPath.agentId!);
      const given = sendsBody(method)
        ? await bodyArguments(request, maxBodyBytes)
        : readQuery(new URL(c.req.url));
      const args = withPath(given, inPath);
      const call = plainCall(principal);
      const open = deps.openCredentials.of({ door: 'rest', principal }, scope.since);
      if (stream && acceptsEvents(request)) {
        const goingOn = afterLastEvent(definition, request, args);
        return answerFrames(stream, scope, frames =>
          open.run(frames.broken, signal =>
            operations.invoke(definition, goingOn, { ...call, stream: heardUntil(signal, frames), signal }),
          ),
        );
      }
      const output = await open.run(call.signal, signal =>
        operations.invoke(definition, args, { ...call, signal }),
      );
      return successStatus === 204 ? c.body(null, 204) : c.json(output, successStatus);
    });
  }
  return app;

  /** Every call counts, also one that is refused afterwards. What can be no agent has no count. */
  async function countCall(principal: Principal, agentId: string): Promise<void> {
    const { credential } = principal;
    if (!isAgentId(agentId) || (await deps.rate.admits(credential, agentId))) return;
    deps.onRateLimited(agentId, principal);
    const seconds = Math.max(1, Math.ceil((await deps.rate.retryAfterMs(credential, agentId)) / 1000));
    throw new PlatformError(
      'rate_limited',
      'Too many calls of this agent within a minute; try again later.',
      {
        details: { retry_after_seconds: seconds },
      },
    );
  }
}

type Stream = NonNullable<Operation['rest']['stream']>;

/**
 * The call as a stream of frames. What refuses it before it opens the stream is an answer with its status; what fails afterwards
 * is a frame, and the last frame is always of the kind the definition says.
 */
async function answerFrames(
  { last }: Stream,
  scope: RequestScope,
  invoke: (frames: FrameStream) => Promise<unknown>,
): Promise<Response> {
  const frames = createFrameStream();
  const running = invoke(frames).catch(thrown => {
    if (!frames.isOpen) throw thrown;
    // The last words wait for nobody who reads slowly: what is written is read before the end.
    void frames.send({ type: 'error', error: errorBody(thrown, scope) });
    void frames.send(last);
  });
  await Promise.race([frames.opened, running]);
  void running.finally(() => frames.close());
  return frames.response;
}

/** Once the call is over for its caller, nothing of it is heard any more, also no end of its own. */
function heardUntil(signal: AbortSignal, frames: CallStream): CallStream {
  return {
    open: () => frames.open(),
    send: async (frame, event) => {
      if (!signal.aborted) await frames.send(frame, event);
    },
  };
}

/** A reader that comes back by itself, as browsers do, says what it has heard last; the address still says where it began. */
function afterLastEvent(
  definition: Operation,
  request: Request,
  args: Record<string, unknown>,
): Record<string, unknown> {
  const last = request.headers.get('last-event-id') ?? '';
  if (!Object.hasOwn(publishedInput(definition).properties, 'since') || !/^\d{1,15}$/.test(last)) return args;
  const { since } = args;
  return typeof since === 'number' && since > Number(last) ? args : { ...args, since: Number(last) };
}

/** Named among what the caller takes; a caller that takes anything gets JSON. */
function acceptsEvents(request: Request): boolean {
  return /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(request.headers.get('accept') ?? '');
}

function withPath(
  args: Record<string, unknown>,
  inPath: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const twice = Object.keys(inPath).find(name => Object.hasOwn(args, name) && args[name] !== inPath[name]);
  if (twice !== undefined) throw saidTwice(twice);
  return { ...args, ...inPath };
}

/** BX-06: one envelope for every REST error. */
export function restError(thrown: unknown, scope: RequestScope): Response {
  const error = toPlatformError(thrown, 'The request');
  const { httpStatus } = error.row;
  const retryAfter = error.details?.retry_after_seconds;
  return Response.json(
    { success: false, error: errorBody(error, scope) },
    {
      status: httpStatus,
      headers: {
        ...(httpStatus === 401 && { 'WWW-Authenticate': 'Bearer' }),
        ...(error.details?.error === 'insufficient_scope' && {
          'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${error.details.scope}"`,
        }),
        ...(error.kind === 'rate_limited' &&
          retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
      },
    },
  );
}

function errorBody(thrown: unknown, scope: RequestScope) {
  const error = toPlatformError(thrown, 'The request');
  if (error.kind === 'internal') scope.log.error('A REST request failed', { error });
  const { type, agentCode } = error.row;
  const details = error.kind === 'internal' ? { traceId: scope.traceId } : error.details;
  return { type, code: agentCode, message: error.message, ...(details && { details }) };
}

/** The body as an object, within the limit in bytes. */
export async function bodyArguments(request: Request, maxBytes: number): Promise<Record<string, unknown>> {
  const read = await readJsonBody(request, maxBytes);
  if (!read.ok)
    throw new PlatformError(
      read.refusal.reason === 'too_large' ? 'too_large' : 'invalid',
      read.refusal.message,
    );
  if (!isObject(read.value))
    throw new PlatformError('invalid', 'The body must be a JSON object with the arguments.');
  return read.value;
}

/** Query text becomes what the argument's schema takes: a number, true or false, else the text itself. */
export function queryReader(definition: Operation): (url: URL) => Record<string, unknown> {
  const { properties } = publishedInput(definition);
  return url => {
    const args: Record<string, unknown> = {};
    for (const [name, text] of url.searchParams) {
      if (Object.hasOwn(args, name)) throw saidTwice(name);
      const type = properties[name]?.type;
      if (type === 'integer' && /^-?\d{1,15}$/.test(text)) args[name] = Number(text);
      else if (type === 'boolean' && (text === 'true' || text === 'false')) args[name] = text === 'true';
      else args[name] = text;
    }
    return args;
  };
}

function saidTwice(name: string): PlatformError {
  return new PlatformError('invalid', `${name}: is given twice with different values; give it once.`);
}
