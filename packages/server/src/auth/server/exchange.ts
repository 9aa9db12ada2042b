import { type IncomingMessage, ServerResponse } from 'node:http';
import { Duplex, Readable } from 'node:stream';
import type { Provider } from 'oidc-provider';

/** A request as the library is to see it: nothing but this reaches it. */
export interface LibraryRequest {
  readonly method: 'GET' | 'POST';
  /** Path of ours, with its query. */
  readonly url: string;
  readonly cookie?: string | undefined;
  readonly authorization?: string | undefined;
  readonly contentType?: string | undefined;
  readonly body?: string | undefined;
}

export interface LibraryAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** How a client says who it is besides the form: with its secret, or not at all. */
export interface ClientHeaders {
  readonly authorization: string | undefined;
}

export interface MemoryPair {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** What was written, once the response has ended. */
  readonly answer: Promise<LibraryAnswer>;
}

/** Has the library answer, without a socket: so it sees no header but these, and its answer can still be looked at. */
export async function exchange(provider: Provider, asked: LibraryRequest): Promise<LibraryAnswer> {
  const { request, response, answer } = memoryPair(asked);
  const done = provider
    .callback()(request, response)
    .then(() => {
      throw new Error('The library ended without an answer.');
    });
  return Promise.race([answer, done]);
}

/** A request and its response that no socket carries. */
export function memoryPair(asked: LibraryRequest): MemoryPair {
  const body = Buffer.from(asked.body ?? '');
  const headers = {
    accept: 'application/json',
    ...(asked.cookie !== undefined && { cookie: asked.cookie }),
    ...(asked.authorization !== undefined && { authorization: asked.authorization }),
    ...(asked.contentType !== undefined && { 'content-type': asked.contentType }),
    ...(asked.body !== undefined && { 'content-length': String(body.length) }),
  };
  const about = { method: asked.method, url: asked.url, headers, httpVersionMajor: 1, httpVersionMinor: 1 };
  const request = Object.assign(Readable.from([body]), {
    ...about,
    socket: new Duplex(),
  }) as unknown as IncomingMessage;
  const response = new ServerResponse(request);
  const answer = new Promise<LibraryAnswer>(resolve => {
    response.end = ((written?: unknown) => {
      resolve({
        status: response.statusCode,
        headers: headersOf(response),
        body: typeof written === 'string' || Buffer.isBuffer(written) ? written.toString() : '',
      });
      return response;
    }) as ServerResponse['end'];
  });
  return { request, response, answer };
}

function headersOf(response: ServerResponse): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.getHeaders())) {
    for (const each of Array.isArray(value) ? value : [String(value)]) headers.append(name, each);
  }
  return headers;
}

/** An answer of ours beside the library. */
export function jsonAnswer(status: number, body: object): LibraryAnswer {
  const headers = new Headers({
    'Content-Type': 'application/json; charset=utf-8',
    'Cache-Control': 'no-store',
  });
  return { status, headers, body: JSON.stringify(body) };
}
