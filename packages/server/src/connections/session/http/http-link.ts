import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import type { Clock } from '../../../kernel/clock.ts';
import type { DirectAnswer, SafeFetch } from '../../../kernel/safe-fetch.ts';
import type { Credential } from '../../credential/credential.ts';
import type { HttpEndpoint } from '../endpoint.ts';
import { SessionError, SignInNeeded } from '../failure.ts';
import { timeLimit } from '../time-limit.ts';
import {
  createHttpExchange,
  type HttpExchange,
  type HttpRequest,
  letGo,
  mediaType,
  one,
} from './http-exchange.ts';
import { HttpRefusal } from './http-refusal.ts';
import { messageHeaders } from './message-headers.ts';
import { MAX_MESSAGE_BYTES, messageTooLarge, readMessage } from './messages.ts';
import { readText } from './read-text.ts';
import { readSse } from './sse-reader.ts';

const DEFAULT_RETRY_MS = 1_000;
/** What a server may ask for: less would be a flood. */
const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 60_000;
/** A stream that breaks without having said anything is taken up again so often before the request counts as lost. */
const MAX_RESUMES = 5;
/** What a stream may go on after its answer, so that its connection can be used again. */
const LINGER_MS = 1_000;
const LEAVE_MS = 1_000;

interface LinkOptions {
  readonly endpoint: HttpEndpoint;
  readonly credential: Credential | undefined;
  readonly fetch: SafeFetch;
  readonly clock: Clock;
}

/**
 * MCP over Streamable HTTP, as a transport: a POST a message, answered with JSON or a stream (specification 2025-03-26 to 2026-07-28,
 * Transports). What cannot be answered rejects `send` with an error that says whether the request can have arrived. A request is sent again by
 * itself only after a refusal of its credential, which comes before it is executed.
 */
export class HttpLink implements Transport {
  /** A request is cancelled by ending its stream, in the stateless era. */
  readonly hasPerRequestStream = true;
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: ((message: JSONRPCMessage) => void) | undefined;
  sessionId: string | undefined;

  private readonly options: LinkOptions;
  private readonly exchange: HttpExchange;
  private readonly url: URL;
  private protocolVersion: string | undefined;
  private readonly closed = new AbortController();
  private retryMs = DEFAULT_RETRY_MS;

  constructor(options: LinkOptions) {
    this.options = options;
    this.exchange = createHttpExchange(options);
    this.url = new URL(options.endpoint.url);
  }

  async start(): Promise<void> {}

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
  }

  /** Resolves when the answer is delivered, or the message taken that has none. */
  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    const signal = options.requestSignal ?? this.closed.signal;
    const method = 'method' in message ? message.method : undefined;
    if (method === 'initialize') this.sessionId = undefined;
    const answer = await this.ask(
      'POST',
      signal,
      messageHeaders(message),
      options.headers,
      JSON.stringify(message),
    );
    if (method === 'initialize') this.sessionId = one(answer.headers['mcp-session-id']);
    if (method !== undefined && 'id' in message) {
      const { authorization } = options.headers ?? {};
      return this.deliverAnswer(answer, message.id, signal, authorization);
    }
    letGo(answer);
    if (method === 'notifications/initialized') void this.listen();
  }

  /** Ends the session where there is one, and every stream. */
  async close(): Promise<void> {
    if (this.closed.signal.aborted) return;
    const gone = () => new SessionError('INTERRUPTED', 'unknown', 'the connection was closed');
    if (this.sessionId !== undefined) {
      const soon = timeLimit(this.options.clock, LEAVE_MS, gone, this.closed.signal);
      await this.ask('DELETE', soon.signal).then(letGo, () => undefined);
      soon.clear();
    }
    this.closed.abort(gone());
    this.onclose?.();
  }

  private ask(
    method: HttpRequest['method'],
    signal: AbortSignal,
    headers: Readonly<Record<string, string>> = {},
    more: Readonly<Record<string, string>> = {},
    body?: string,
  ): Promise<DirectAnswer> {
    const own: Record<string, string> = {
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
    };
    if (body !== undefined) own['content-type'] = 'application/json';
    if (this.sessionId !== undefined) own['mcp-session-id'] = this.sessionId;
    if (this.protocolVersion !== undefined) own['mcp-protocol-version'] = this.protocolVersion;
    return this.exchange({
      method,
      url: this.url,
      headers: { ...own, ...headers, ...more },
      body,
      signal,
      inSession: this.sessionId !== undefined,
    });
  }

  private async deliverAnswer(
    answer: DirectAnswer,
    id: unknown,
    signal: AbortSignal,
    authorization: string | undefined,
  ): Promise<void> {
    const type = mediaType(answer);
    if (type === 'text/event-stream') return this.follow(answer, id, signal, authorization);
    if (type !== 'application/json') {
      letGo(answer);
      throw new SessionError('PROTOCOL_ERROR', 'yes', noAnswer(answer.status), { status: answer.status });
    }
    const text = await readText(answer.body, {
      maxBytes: MAX_MESSAGE_BYTES,
      tooLarge: messageTooLarge,
    }).catch(thrown => {
      throw brokenBody(thrown, signal);
    });
    if (!this.deliver(readMessage(text), id))
      throw new SessionError('PROTOCOL_ERROR', 'yes', 'it answered with something else than was asked for');
  }

  /**
   * True when the answer to `id` was among it. Other answers have no business there and are dropped (attack 40); an error without an id can only
   * mean the request it came as the answer to.
   */
  private deliver(value: unknown, id?: unknown): boolean {
    let answered = false;
    for (const message of Array.isArray(value) ? value : [value]) {
      if (typeof message !== 'object' || message === null) continue;
      if ('method' in message) this.onmessage?.(message);
      else if (id !== undefined && isAnswerTo(message, id)) {
        answered = true;
        this.onmessage?.({ ...message, id });
      }
    }
    return answered;
  }

  /** Reads the stream of one request to its answer, over breaks where the server numbers its events: as whoever sent the request. */
  private async follow(
    first: DirectAnswer,
    id: unknown,
    signal: AbortSignal,
    authorization: string | undefined,
  ): Promise<void> {
    let answered = false;
    let lastEventId: string | undefined;
    let answer: DirectAnswer | undefined = first;
    for (let silent = 0; ; silent++) {
      const { body } = answer ?? {};
      const ended = new AbortController();
      try {
        if (body)
          await this.read(body, event => {
            silent = 0;
            if (event.id) lastEventId = event.id;
            if (answered || !event.data) return;
            answered = this.deliver(readMessage(event.data), id);
            if (answered)
              this.options.clock.sleep(LINGER_MS, ended.signal).then(
                () => body.destroy(),
                () => undefined,
              );
          });
      } catch (thrown) {
        // What is said and makes no sense would make none the next time.
        if (thrown instanceof SessionError && !answered) throw thrown;
      } finally {
        ended.abort();
      }
      if (answered) return;
      signal.throwIfAborted();
      // Without numbers there is nothing to come back to, and the stateless era has none.
      if (lastEventId === undefined || this.protocolVersion === undefined || silent === MAX_RESUMES)
        throw new SessionError('TRANSPORT_ERROR', 'unknown', 'its stream ended without an answer');
      answer = await this.resume(lastEventId, signal, authorization);
    }
  }

  private read(
    body: DirectAnswer['body'],
    onEvent: (event: { readonly id: string | undefined; readonly data: string }) => void,
  ): Promise<void> {
    return readSse(
      body,
      { maxEventChars: MAX_MESSAGE_BYTES, tooLarge: messageTooLarge },
      {
        onEvent: event => {
          if (event.event === undefined || event.event === 'message') onEvent(event);
        },
        onRetry: ms => {
          this.retryMs = Math.min(Math.max(ms, MIN_RETRY_MS), MAX_RETRY_MS);
        },
      },
    );
  }

  /** `undefined` when it did not come about this time. */
  private async resume(
    lastEventId: string,
    signal: AbortSignal,
    authorization: string | undefined,
  ): Promise<DirectAnswer | undefined> {
    await this.options.clock.sleep(this.retryMs, signal);
    try {
      return await this.ask('GET', signal, {
        'last-event-id': lastEventId,
        ...(authorization !== undefined && { authorization }),
      });
    } catch (error) {
      if (error instanceof HttpRefusal && error.httpStatus < 500)
        throw new SessionError(
          'TRANSPORT_ERROR',
          'unknown',
          'its stream ended, and it does not go on with it',
          {
            cause: error,
          },
        );
      signal.throwIfAborted();
      return undefined;
    }
  }

  /** The stream on which a server of the older eras speaks by itself; there may be none. Opened again as long as the link is. */
  private async listen(): Promise<void> {
    const { signal } = this.closed;
    let lastEventId: string | undefined;
    let wasOpen = false;
    let lost = false;
    for (let silent = 0; !signal.aborted; silent++) {
      try {
        const answer = await this.ask('GET', signal, {
          ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        });
        if (mediaType(answer) !== 'text/event-stream') return letGo(answer);
        if (wasOpen && lastEventId === undefined) this.missed();
        wasOpen = true;
        lost = false;
        await this.read(answer.body, event => {
          silent = 0;
          if (event.id) lastEventId = event.id;
          if (event.data) this.deliver(readMessage(event.data));
        });
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof SignInNeeded || (error instanceof HttpRefusal && error.httpStatus < 500)) {
          // A server without such a stream says so in one way or another; one that had it may no longer know us, which a reading of its tools shows.
          if (wasOpen) this.missed();
          return;
        }
        if (wasOpen && !lost) this.missed();
        lost = true;
      }
      const wait = Math.min(this.retryMs * 2 ** Math.min(silent, 10), MAX_RETRY_MS);
      await this.options.clock.sleep(wait, signal).catch(() => undefined);
    }
  }

  /** What was announced while nobody listened is not known: as if it had been this. */
  private missed(): void {
    this.onmessage?.({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  }
}

function isAnswerTo(message: { readonly id?: unknown }, id: unknown): boolean {
  return message.id === id || ('error' in message && (message.id ?? null) === null);
}

function noAnswer(status: number): string {
  return status === 202
    ? 'it accepted the request without answering it'
    : 'it answered with something that is not JSON';
}

function brokenBody(thrown: unknown, signal: AbortSignal): unknown {
  if (thrown instanceof SessionError) return thrown;
  if (signal.aborted) return signal.reason;
  return new SessionError('TRANSPORT_ERROR', 'unknown', 'the connection broke before the answer was whole', {
    cause: thrown,
  });
}
