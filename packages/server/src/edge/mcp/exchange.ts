import {
  isJSONRPCRequest,
  isSpecType,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { CALLED_BY_META } from '@patchbay/contract/called-by';
import { toPlatformError } from '../../kernel/errors.ts';
import type { Cancellation } from './cancellations.ts';
import type { Asking, Caller, Era, McpDoor, PreparedCall, RepeatedCall } from './door.ts';
import { metaOf } from './headers.ts';
import { idOf, type JsonRpcError, jsonRpcErrorResponse, toJsonRpcError } from './json-rpc.ts';
import { isEventStream, streamWithFirstByte } from './stream.ts';

/** One request while it is served: what the protocol layer needs to know about it. */
export interface Exchange<C extends Caller> {
  readonly caller: C;
  /** The `tools/call` of this request, past everything that can refuse it. */
  readonly prepared: PreparedCall | undefined;
  /** The caller reads a stream. */
  readonly streaming: boolean;
  /** Set in the older eras, where a `notifications/cancelled` ends a call and a broken connection does not. */
  readonly cancellation: Cancellation | undefined;
  /** See `CallContext.asking`. */
  readonly asking: () => Asking | undefined;
  /** The prepared call was started; if it never is, it must be abandoned. */
  started: boolean;
  /** Status of a failure after the first check, for answers that are one JSON. */
  lateStatus: number | undefined;
}

/**
 * Prepares a `tools/call` whose form is right; a wrong form is left to the SDK's own refusal. Rejects with the response of
 * a door that refuses.
 */
export async function prepareCall<C extends Caller>(
  door: McpDoor<C>,
  message: unknown,
  caller: C,
  era: Era,
): Promise<{ readonly prepared: PreparedCall | undefined } | { readonly refusal: Response }> {
  if (!isJSONRPCRequest(message) || !isSpecType.CallToolRequest(message)) return { prepared: undefined };
  const { name, arguments: args = {} } = message.params;
  const repeated = era === 'stateless' ? repeatedCall(message.params) : undefined;
  try {
    return { prepared: await door.prepareCall(withMark(caller, metaOf(message)), name, args, era, repeated) };
  } catch (thrown) {
    const { error, status } = answerFailure(thrown, caller);
    return { refusal: jsonRpcErrorResponse(idOf(message), error, status) };
  }
}

/** A state of another form is left to the SDK's own refusal, and answers without one are answers to nothing. */
function repeatedCall(params: Readonly<Record<string, unknown>>): RepeatedCall | undefined {
  const { requestState, inputResponses } = params;
  return typeof requestState === 'string' ? { state: requestState, answers: inputResponses } : undefined;
}

/** An agent's call says so in its message, which no credential does (attack 29). */
function withMark<C extends Caller>(caller: C, meta: Readonly<Record<string, unknown>> | undefined): C {
  if (meta?.[CALLED_BY_META] === undefined) return caller;
  return { ...caller, principal: { ...caller.principal, byAgent: true } };
}

/** Runs the prepared call inside the SDK's handler; a failure is a protocol error. */
export async function runCall<C extends Caller>(exchange: Exchange<C>, ctx: ServerContext) {
  const { prepared, cancellation } = exchange;
  if (!prepared) {
    throw new ProtocolError(
      -32602,
      'tools/call needs params.name (a string) and params.arguments (an object)',
    );
  }
  exchange.started = true;
  try {
    return await exchange.caller.open.run(cancellation?.signal ?? ctx.mcpReq.signal, signal =>
      prepared.run({ signal, progress: progressSender(exchange, ctx), asking: exchange.asking }),
    );
  } catch (thrown) {
    const { error, status } = answerFailure(thrown, exchange.caller);
    exchange.lateStatus = status;
    throw new ProtocolError(error.code, error.message, error.data);
  } finally {
    cancellation?.done();
  }
}

/**
 * The client's token; without one the request id serves in the older eras (B-58, stock clients ignore it), and nothing is
 * sent in the stateless era, whose specification forbids it.
 */
function progressSender<C extends Caller>(
  exchange: Exchange<C>,
  ctx: ServerContext,
): (message?: string) => void {
  const asked = ctx.mcpReq._meta?.progressToken;
  const token = asked ?? (exchange.cancellation && ctx.mcpReq.id);
  if (!exchange.streaming || token === undefined) return () => {};
  let progress = 0;
  return message => {
    progress += 1;
    // A client that went away hears nothing more; its turn goes on.
    ctx.mcpReq
      .notify({ method: 'notifications/progress', params: { progressToken: token, progress, message } })
      .catch(() => {});
  };
}

/**
 * Lets the protocol layer answer, and sees to it that nothing stays behind: a call that was prepared and never started,
 * because the SDK refused the request after all, is given back, whether the refusal is one JSON or came on the stream.
 * `onEnd` runs when nothing more will be sent.
 */
export async function answer<C extends Caller>(
  exchange: Exchange<C>,
  respond: () => Promise<Response>,
  onEnd: () => void = () => {},
): Promise<Response> {
  const settle = async () => {
    onEnd();
    if (exchange.started) return;
    exchange.started = true;
    exchange.cancellation?.done();
    await exchange.prepared?.abandon();
  };
  let response: Response;
  try {
    response = await respond();
  } catch (thrown) {
    await settle();
    throw thrown;
  }
  if (isEventStream(response)) return streamWithFirstByte(response, settle);
  await settle();
  if (exchange.lateStatus === undefined) return response;
  // A failure after the first check keeps its status where the answer is one JSON.
  return new Response(response.body, { status: exchange.lateStatus, headers: response.headers });
}

/** What the caller is told of anything thrown; what is our fault is logged with its cause. */
export function answerFailure(
  thrown: unknown,
  caller: Caller,
): { readonly error: JsonRpcError; readonly status: number } {
  const error = toPlatformError(thrown, 'The request');
  if (error.kind === 'internal') caller.log.error('An MCP request failed', { error });
  return { error: toJsonRpcError(error, caller.traceId), status: error.row.httpStatus };
}
