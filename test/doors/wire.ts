import { request } from 'node:http';

/** Requests as an unknown client would send them: nothing between the test and the bytes. */

export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The JSON body, or the messages of the event stream in order. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything, tests look into it
  readonly body: any;
}

export interface WireOptions {
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Take an event stream. */
  readonly stream?: boolean;
}

/** One JSON-RPC request in the form the seed's curl examples have: no handshake, no session. */
export function rpc(
  url: string,
  method: string,
  params: unknown,
  options: WireOptions = {},
): Promise<WireAnswer> {
  return post(url, { jsonrpc: '2.0', id: 1, method, ...(params !== undefined && { params }) }, options);
}

export function callTool(
  url: string,
  name: string,
  args: Record<string, unknown>,
  options: WireOptions = {},
): Promise<WireAnswer> {
  return rpc(url, 'tools/call', { name, arguments: args }, options);
}

export async function post(url: string, body: unknown, options: WireOptions = {}): Promise<WireAnswer> {
  return read(await send(url, body, options));
}

/**
 * Calls a tool and resolves with the head of its event stream: an agent has the message by then. `answer` is the rest of it.
 */
export async function startTool(
  url: string,
  name: string,
  args: Record<string, unknown>,
  options: WireOptions = {},
): Promise<{ readonly status: number; readonly answer: Promise<WireAnswer> }> {
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  const response = await send(url, request, { ...options, stream: true });
  return { status: response.status, answer: read(response) };
}

function send(url: string, body: unknown, options: WireOptions): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(options.key && { authorization: `Bearer ${options.key}` }),
      ...(options.stream && { accept: 'application/json, text/event-stream' }),
      ...options.headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** The status of a request with a `Host` of our choosing, which `fetch` does not let one say. */
export function statusWithHost(
  url: string,
  host: string,
  options: { readonly method?: string; readonly body?: unknown; readonly key?: string } = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      method: options.method ?? 'GET',
      headers: {
        host,
        'content-type': 'application/json',
        ...(options.key && { authorization: `Bearer ${options.key}` }),
      },
    });
    sent.on('response', response => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end(options.body === undefined ? undefined : JSON.stringify(options.body));
  });
}

async function read(response: Response): Promise<WireAnswer> {
  const text = await response.text();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  return {
    status: response.status,
    headers: response.headers,
    body: isStream ? eventsOf(text) : text === '' ? undefined : parse(text),
  };
}

function eventsOf(text: string): unknown[] {
  return text
    .split('\n')
    .flatMap(line => (line.startsWith('data: ') ? [JSON.parse(line.slice('data: '.length))] : []));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The error of a tool result (E-20), or `undefined` when the call succeeded. */
export function toolError(
  answer: WireAnswer,
): { error: string; errorCode: string; details?: unknown } | undefined {
  const { result } = answer.body;
  return result.isError ? JSON.parse(result.content[0].text) : undefined;
}
