import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import type { DirectAnswer, SafeFetch } from '../../../kernel/safe-fetch.ts';
import type { Credential } from '../../credential/credential.ts';
import type { HttpEndpoint } from '../endpoint.ts';
import { SessionError, sessionError } from '../failure.ts';
import { createHttpExchange, type HttpExchange, letGo, mediaType } from './http-exchange.ts';
import { MAX_MESSAGE_BYTES, messageTooLarge, readMessage } from './messages.ts';
import { readSse } from './sse-reader.ts';

/**
 * MCP over HTTP+SSE, as a transport: one stream on which the server says everything, first of all where to post (specification 2024-11-05,
 * Transports). The stream is the session: with it everything ends.
 */
export class SseLink implements Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: ((message: JSONRPCMessage) => void) | undefined;

  private readonly exchange: HttpExchange;
  private readonly url: URL;
  private postTo: URL | undefined;
  private readonly closed = new AbortController();

  constructor(options: {
    readonly endpoint: HttpEndpoint;
    readonly credential: Credential | undefined;
    readonly fetch: SafeFetch;
  }) {
    this.exchange = createHttpExchange(options);
    this.url = new URL(options.endpoint.url);
  }

  /** Resolves when the server has said where to post. */
  async start(): Promise<void> {
    const { signal } = this.closed;
    const headers = { accept: 'text/event-stream' };
    const answer = await this.exchange({ method: 'GET', url: this.url, headers, signal, inSession: false });
    if (mediaType(answer) !== 'text/event-stream') {
      letGo(answer);
      throw new SessionError('PROTOCOL_ERROR', 'yes', 'it answered with something that is no event stream');
    }
    await new Promise<void>((resolve, reject) => {
      this.read(answer.body, resolve).then(
        () => this.ended(new SessionError('TRANSPORT_ERROR', 'unknown', 'its stream ended'), reject),
        thrown => this.ended(sessionError(thrown), reject),
      );
    });
  }

  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if (!this.postTo) throw new SessionError('SERVER_UNAVAILABLE', 'no', 'it has not said where to post');
    const answer = await this.exchange({
      method: 'POST',
      url: this.postTo,
      headers: { 'content-type': 'application/json', ...options.headers },
      body: JSON.stringify(message),
      signal: options.requestSignal ?? this.closed.signal,
      inSession: true,
    });
    letGo(answer);
  }

  async close(): Promise<void> {
    if (this.closed.signal.aborted) return;
    this.closed.abort(new SessionError('INTERRUPTED', 'unknown', 'the connection was closed'));
    this.onclose?.();
  }

  private read(body: DirectAnswer['body'], onEndpoint: () => void): Promise<void> {
    return readSse(
      body,
      { maxEventChars: MAX_MESSAGE_BYTES, tooLarge: messageTooLarge },
      {
        onEvent: ({ event, data }) => {
          if (event === 'endpoint') {
            // Said once: what is under way has its answer on this stream.
            this.postTo ??= this.postAddress(data);
            onEndpoint();
          } else if ((event === undefined || event === 'message') && data)
            this.onmessage?.(readMessage(data) as JSONRPCMessage);
        },
        onRetry: () => undefined,
      },
    );
  }

  /** Credentials go to the origin they are for, and nowhere else. */
  private postAddress(text: string): URL {
    const url = URL.parse(text, this.url.href);
    if (url?.origin !== this.url.origin)
      throw new SessionError('PROTOCOL_ERROR', 'yes', 'it wants messages to be posted to another origin');
    return url;
  }

  private ended(why: SessionError, reject: (why: unknown) => void): void {
    reject(this.closed.signal.aborted ? this.closed.signal.reason : why);
    if (this.closed.signal.aborted) return;
    this.onerror?.(why);
    void this.close();
  }
}
