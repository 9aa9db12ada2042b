import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import type { Clock } from '../../../kernel/clock.ts';
import type { DirectAnswer, SafeFetch } from '../../../kernel/safe-fetch.ts';
import type { Credential, CredentialTarget } from '../../credential/credential.ts';
import type { HttpEndpoint } from '../endpoint.ts';
import { SessionError, sessionError } from '../failure.ts';
import { HttpRefusal } from './http-refusal.ts';
import { messageHeaders } from './message-headers.ts';
import { sendAs } from './send-as.ts';
import { readSse } from './sse-reader.ts';

/** Of one message: what the largest useful results need, and what one connection may cost. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** Of an answer that is an error. */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_REDIRECTS = 3;
const DEFAULT_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** A stream that breaks is taken up again so often before the request counts as lost. */
const MAX_RESUMES = 5;

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
  private readonly staticHeaders: Readonly<Record<string, string>>;
  private url: URL;
  private protocolVersion: string | undefined;
  private readonly closed = new AbortController();
  private retryMs = DEFAULT_RETRY_MS;

  constructor(options: LinkOptions) {
    this.options = options;
    this.url = new URL(options.endpoint.url);
    // In lower case like all others: of two with the same name the later one counts, and not both.
    this.staticHeaders = Object.fromEntries(
      Object.entries(options.endpoint.headers).map(([name, value]) => [name.toLowerCase(), value]),
    );
  }

  async start(): Promise<void> {}

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
  }

  /** Resolves when the answer is delivered, or its stream has begun. */
  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    const signal = this.signalWith(options.requestSignal);
    const begins = 'method' in message && message.method === 'initialize';
    if (begins) this.sessionId = undefined;
    const answer = await this.exchange(
      'POST',
      signal,
      {
        ...messageHeaders(message),
        ...options.headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      JSON.stringify(message),
    );
    if (begins) this.sessionId = one(answer.headers['mcp-session-id']);
    const asks = 'method' in message && 'id' in message;
    if (answer.status === 202 || !asks) {
      await answer.body.dump();
      if (asks)
        throw new SessionError('PROTOCOL_ERROR', 'yes', 'it accepted the request without answering it', {
          status: 202,
        });
      if ('method' in message && message.method === 'notifications/initialized') void this.listen();
      return;
    }
    switch (mediaType(answer)) {
      case 'application/json':
        return this.deliver(parsed(await readText(answer.body, MAX_MESSAGE_BYTES, signal)));
      case 'text/event-stream':
        void this.follow(answer, { id: message.id, signal, onEnd: options.onRequestStreamEnd });
        return;
      default:
        await answer.body.dump();
        throw new SessionError('PROTOCOL_ERROR', 'yes', 'it answered with something that is not JSON', {
          status: answer.status,
        });
    }
  }

  /** Ends the session where there is one, and every stream. */
  async close(): Promise<void> {
    if (this.closed.signal.aborted) return;
    if (this.sessionId !== undefined) await this.endSession();
    this.closed.abort(new SessionError('INTERRUPTED', 'unknown', 'the connection was closed'));
    this.onclose?.();
  }

  private async endSession(): Promise<void> {
    const soon = new AbortController();
    void this.options.clock.sleep(1_000, this.closed.signal).then(
      () => soon.abort(),
      () => undefined,
    );
    await this.exchange('DELETE', AbortSignal.any([soon.signal, this.closed.signal]), {})
      .then(answer => answer.body.dump())
      .catch(() => undefined);
  }

  /** One exchange, with the credential renewed where it was refused and redirects of the same origin followed. */
  private async exchange(
    method: CredentialTarget['method'],
    signal: AbortSignal,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Promise<DirectAnswer> {
    const { credential, endpoint, fetch } = this.options;
    const text = (answer: DirectAnswer) => readText(answer.body, MAX_ERROR_BYTES, signal);
    const send = (shown: Readonly<Record<string, string>>) =>
      fetch
        .request(this.url, {
          hostFrom: endpoint.hostFrom,
          insecureTls: endpoint.insecureTls,
          method,
          headers: { ...this.staticHeaders, ...this.ownHeaders(), ...headers, ...shown },
          body,
          signal,
        })
        .catch(thrown => {
          throw signal.aborted ? signal.reason : sessionError(thrown);
        });
    for (let redirects = 0; ; redirects++) {
      const answer = await sendAs(credential, { method, url: this.url }, send, { head: one => one, text });
      if (answer.status >= 200 && answer.status < 300) return answer;
      const moved = movedTo(answer, this.url);
      if (!moved || redirects === MAX_REDIRECTS) {
        const said = await text(answer).catch(() => '');
        throw new HttpRefusal(answer.status, said, this.sessionId !== undefined);
      }
      await answer.body.dump();
      this.url = moved;
    }
  }

  private ownHeaders(): Record<string, string> {
    return {
      ...(this.sessionId !== undefined && { 'mcp-session-id': this.sessionId }),
      ...(this.protocolVersion !== undefined && { 'mcp-protocol-version': this.protocolVersion }),
    };
  }

  private signalWith(signal: AbortSignal | undefined): AbortSignal {
    return signal ? AbortSignal.any([signal, this.closed.signal]) : this.closed.signal;
  }

  private deliver(value: unknown): void {
    for (const message of Array.isArray(value) ? value : [value]) this.onmessage?.(message as JSONRPCMessage);
  }

  /** Reads the stream of one request to its answer, over breaks where the server numbers its events. */
  private async follow(
    first: DirectAnswer,
    request: { readonly id: unknown; readonly signal: AbortSignal; readonly onEnd: (() => void) | undefined },
  ): Promise<void> {
    let answered = false;
    let lastEventId: string | undefined;
    const read = (answer: DirectAnswer) =>
      readSse(answer.body, MAX_MESSAGE_BYTES, {
        onEvent: event => {
          if (event.id) lastEventId = event.id;
          if (!event.data || (event.event !== undefined && event.event !== 'message')) return;
          const value = parsed(event.data);
          answered ||= isAnswerTo(value, request.id);
          this.deliver(value);
        },
        onRetry: ms => {
          this.retryMs = Math.min(ms, MAX_RETRY_MS);
        },
      });
    let answer: DirectAnswer | undefined = first;
    for (let resumes = 0; ; resumes++) {
      try {
        if (answer) await read(answer);
      } catch (error) {
        if (!request.signal.aborted) this.onerror?.(sessionError(error));
      }
      if (answered || request.signal.aborted || lastEventId === undefined || resumes === MAX_RESUMES) break;
      answer = await this.resume(lastEventId, request.signal);
    }
    if (!request.signal.aborted) request.onEnd?.();
  }

  /** `undefined` when it did not come about this time. */
  private async resume(lastEventId: string, signal: AbortSignal): Promise<DirectAnswer | undefined> {
    try {
      await this.options.clock.sleep(this.retryMs, signal);
      return await this.exchange('GET', signal, {
        accept: 'text/event-stream',
        'last-event-id': lastEventId,
      });
    } catch {
      return undefined;
    }
  }

  /** The stream on which a server of the older eras speaks by itself; there may be none. Opened again as long as the link is. */
  private async listen(): Promise<void> {
    const { signal } = this.closed;
    let lastEventId: string | undefined;
    for (let failures = 0; !signal.aborted; ) {
      try {
        const answer = await this.exchange('GET', signal, {
          accept: 'text/event-stream',
          ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        });
        if (mediaType(answer) !== 'text/event-stream') return void (await answer.body.dump());
        failures = 0;
        await readSse(answer.body, MAX_MESSAGE_BYTES, {
          onEvent: event => {
            if (event.id) lastEventId = event.id;
            if (event.data) this.deliver(parsed(event.data));
          },
          onRetry: ms => {
            this.retryMs = Math.min(ms, MAX_RETRY_MS);
          },
        });
      } catch (error) {
        if (signal.aborted) return;
        // Without such a stream a server answers 405; with the session gone, 404.
        if (error instanceof HttpRefusal) {
          if (error.sessionGone) this.onerror?.(error);
          if (error.httpStatus < 500) return;
        }
        failures += 1;
      }
      const wait = Math.min(this.retryMs * 2 ** failures, MAX_RETRY_MS);
      await this.options.clock.sleep(wait, signal).catch(() => undefined);
    }
  }
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function mediaType({ headers }: DirectAnswer): string {
  return (one(headers['content-type']) ?? '').split(';')[0]!.trim().toLowerCase();
}

/** A redirect that keeps method and body and stays with the origin; any other is an answer like another error. */
function movedTo(answer: DirectAnswer, from: URL): URL | undefined {
  if (answer.status !== 307 && answer.status !== 308) return undefined;
  const url = URL.parse(one(answer.headers.location) ?? '', from.href);
  return url && url.origin === from.origin ? url : undefined;
}

function isAnswerTo(value: unknown, id: unknown): boolean {
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  return messages.some(
    message =>
      typeof message === 'object' &&
      message !== null &&
      'id' in message &&
      message.id === id &&
      !('method' in message),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SessionError('PROTOCOL_ERROR', 'yes', 'it answered with something that is not JSON', { cause });
  }
}

async function readText(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes)
        throw new SessionError('PROTOCOL_ERROR', 'yes', `its answer is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (thrown) {
    if (thrown instanceof SessionError) throw thrown;
    throw signal.aborted
      ? signal.reason
      : new SessionError('TRANSPORT_ERROR', 'yes', 'the connection broke before the answer was whole', {
          cause: thrown,
        });
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
}
