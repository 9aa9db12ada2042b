import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.ts';
import { isObject } from '../../kernel/json.ts';
import { SessionError, sessionError } from './failure.ts';
import { HttpRefusal } from './http/http-refusal.ts';

/** What a server says of how far a request is. */
export interface Progress {
  readonly progress: number;
  readonly total: number | undefined;
  readonly message: string | undefined;
}

export interface RequestOptions {
  /** Milliseconds until it fails with `TIMEOUT`; progress does not extend it. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** More HTTP headers, where the transport has any. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Members of a JSON-RPC object; nothing of it is believed before it is looked at. */
export type Members = Readonly<Record<string, unknown>>;

/** A request of the server. A thrown `RpcRefusal` is answered as it is, anything else as an internal error. */
export type Answerer = (method: string, params: Members) => Promise<Members>;

class RpcRefusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface WireOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly onNotification: (method: string, params: Members) => void;
  readonly answer: Answerer;
  /** Once, when nothing more can come: by `close`, or because the other side is gone. */
  readonly onClose: (reason: SessionError | undefined) => unknown;
}

interface Pending {
  readonly resolve: (result: Members) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** Why a time limit ends early. Without a reason each would get an error with a stack, which costs as much as a message. */
const OVER = 'over';

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
const INVALID_PARAMS = -32602;
/** For a message that is not answered. */
const TAKEN_WITHIN_MS = 10_000;
/** Requests of the server that are answered at a time; what is beyond is not. */
const MAX_ANSWERING = 100;

/**
 * JSON-RPC over a transport: our requests with ids of their own, each with a time limit; what is late, foreign or said twice is dropped
 * (attack 40). Every failure says whether the request can have reached the server.
 */
export class Wire {
  /** Goes into every request, in the stateless era. */
  envelope: Members | undefined;
  private readonly options: WireOptions;
  private readonly pending = new Map<number, Pending>();
  private readonly streams = new Set<AbortController>();
  private answering = 0;
  private nextId = 1;
  private closedBy: SessionError | undefined;
  private isClosed = false;

  constructor(options: WireOptions) {
    this.options = options;
    const { transport } = options;
    transport.onmessage = message => this.receive(message);
    transport.onclose = () => this.closed();
    transport.onerror = error => {
      this.closedBy = sessionError(error);
    };
  }

  async start(): Promise<void> {
    try {
      await this.options.transport.start();
    } catch (thrown) {
      throw sessionError(thrown);
    }
  }

  /** Resolves with the result as it came. Rejects with a `SessionError`, or with the reason of the signal when the caller gave up. */
  async request(method: string, params: Members, options: RequestOptions): Promise<Members> {
    const { signal, timeoutMs, headers, onProgress } = options;
    signal?.throwIfAborted();
    if (this.isClosed) throw this.goneError('no');
    const id = this.nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<Members>();
    this.pending.set(id, { resolve, reject, onProgress });
    const giveUp = () => reject(signal?.reason);
    signal?.addEventListener('abort', giveUp, { once: true });
    const answered = new AbortController();
    this.options.clock.sleep(timeoutMs, answered.signal).then(
      () => reject(new SessionError('TIMEOUT', 'unknown', `no answer within ${timeoutMs} ms`)),
      () => undefined,
    );
    const stream = this.openStream();
    let open = true;
    this.options.transport
      .send(this.message(id, method, params, options), { requestSignal: stream.signal, headers })
      .catch(thrown => {
        open = false;
        reject(failureOfSend(thrown));
      })
      .finally(() => this.streams.delete(stream));
    try {
      return await promise;
    } catch (error) {
      if (open && isGivenUp(error, signal)) this.cancel(id, method);
      // A stream that has given its answer ends by itself, and its connection is used again.
      stream.abort(error);
      throw error;
    } finally {
      this.pending.delete(id);
      answered.abort(OVER);
      signal?.removeEventListener('abort', giveUp);
    }
  }

  async notify(method: string, params: Members = {}): Promise<void> {
    await this.post({ jsonrpc: '2.0', method, params: this.withEnvelope(params) });
  }

  /** Ends what is under way. Safe to call twice. */
  async close(): Promise<void> {
    this.closed(new SessionError('INTERRUPTED', 'unknown', 'the connection was closed'));
    await this.options.transport.close().catch(() => undefined);
  }

  /** Sends what is not answered. A server that does not take it is not waited for. */
  private async post(message: object): Promise<void> {
    const stream = this.openStream();
    const taken = new AbortController();
    this.options.clock.sleep(TAKEN_WITHIN_MS, taken.signal).then(
      () => stream.abort(new SessionError('TIMEOUT', 'unknown', 'it does not take a message')),
      () => undefined,
    );
    try {
      await this.options.transport.send(message as JSONRPCMessage, { requestSignal: stream.signal });
    } catch (thrown) {
      throw sessionError(thrown);
    } finally {
      taken.abort(OVER);
      this.streams.delete(stream);
    }
  }

  /** Ended with the wire. */
  private openStream(): AbortController {
    const stream = new AbortController();
    this.streams.add(stream);
    return stream;
  }

  private message(id: number, method: string, params: Members, options: RequestOptions): JSONRPCMessage {
    const meta = {
      ...(params._meta as Members | undefined),
      ...(options.onProgress && { progressToken: id }),
    };
    const whole = Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params;
    return { jsonrpc: '2.0', id, method, params: this.withEnvelope(whole) } as JSONRPCMessage;
  }

  private withEnvelope(params: Members): Members {
    if (!this.envelope) return params;
    return { ...params, _meta: { ...this.envelope, ...(params._meta as Members | undefined) } };
  }

  /** In the stateless era over HTTP the end of the stream says it; everywhere else a message does. */
  private cancel(id: number, method: string): void {
    if (method === 'initialize' || method === 'server/discover') return;
    if (this.envelope && this.options.transport.hasPerRequestStream === true) return;
    void this.notify('notifications/cancelled', {
      requestId: id,
      reason: 'the caller no longer waits',
    }).catch(() => undefined);
  }

  private receive(message: unknown): void {
    if (!isObject(message)) return;
    const { id, method } = message;
    if (typeof method === 'string') {
      const params = isObject(message.params) ? message.params : {};
      if (id !== undefined) void this.answerTo(id, method, params);
      else if (method === 'notifications/progress') this.progress(params);
      else this.options.onNotification(method, params);
      return;
    }
    // A number sent as a text is another id, and not ours.
    const pending = typeof id === 'number' ? this.pending.get(id) : undefined;
    if (!pending) return;
    if (isObject(message.error)) pending.reject(rpcFailure(message.error));
    else if (isObject(message.result)) pending.resolve(message.result);
    else
      pending.reject(
        new SessionError('PROTOCOL_ERROR', 'yes', 'its answer has neither a result nor an error'),
      );
  }

  private progress(params: Members): void {
    const { progressToken, progress, total, message } = params;
    const pending = typeof progressToken === 'number' ? this.pending.get(progressToken) : undefined;
    if (typeof progress !== 'number') return;
    pending?.onProgress?.({
      progress,
      total: typeof total === 'number' ? total : undefined,
      message: typeof message === 'string' ? message : undefined,
    });
  }

  private async answerTo(id: unknown, method: string, params: Members): Promise<void> {
    // In the stateless era nobody asks a client (2026-07-28, Base Protocol).
    if (this.envelope || this.answering === MAX_ANSWERING) return;
    this.answering += 1;
    const answer = await this.options.answer(method, params).then(
      result => ({ result }),
      (error: unknown) => ({
        error:
          error instanceof RpcRefusal
            ? { code: error.code, message: error.message }
            : { code: INTERNAL_ERROR, message: 'the request could not be answered' },
      }),
    );
    await this.post({ jsonrpc: '2.0', id, ...answer }).catch(() => undefined);
    this.answering -= 1;
  }

  private closed(reason = this.closedBy): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.closedBy = reason;
    const gone = reason?.kind === 'INTERRUPTED' ? reason : this.goneError('unknown');
    for (const { reject } of this.pending.values()) reject(gone);
    for (const stream of this.streams) stream.abort(gone);
    this.options.onClose(reason);
  }

  private goneError(reached: 'no' | 'unknown'): SessionError {
    const why = this.closedBy?.message ?? 'the connection ended';
    return reached === 'no'
      ? new SessionError('SERVER_UNAVAILABLE', 'no', why, { cause: this.closedBy })
      : new SessionError('TRANSPORT_ERROR', 'unknown', why, { cause: this.closedBy });
  }
}

/** Answers nothing but the ping of the older eras: nobody is there whom a server could ask. */
export const answerPingOnly: Answerer = async method => {
  if (method === 'ping') return {};
  throw new RpcRefusal(METHOD_NOT_FOUND, 'this client has no such method');
};

function isGivenUp(error: unknown, signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true || (error instanceof SessionError && error.kind === 'TIMEOUT');
}

/** An HTTP error may carry the JSON-RPC error of the request. */
function failureOfSend(thrown: unknown): SessionError {
  const failure = sessionError(thrown);
  return failure instanceof HttpRefusal &&
    failure.rpcError &&
    !failure.sessionGone &&
    failure.kind === 'PROTOCOL_ERROR'
    ? rpcFailure(failure.rpcError, failure.httpStatus)
    : failure;
}

function rpcFailure(error: Members, status?: number): SessionError {
  const code = typeof error.code === 'number' ? error.code : INTERNAL_ERROR;
  const said = typeof error.message === 'string' ? error.message : 'an error without a message';
  const kind = code === INVALID_PARAMS ? 'INVALID_ARGUMENTS' : 'PROTOCOL_ERROR';
  return new SessionError(kind, 'yes', said, {
    code,
    ...(status !== undefined && { status }),
    cause: error.data,
  });
}
