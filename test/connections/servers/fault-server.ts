import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId';
const MODERN = '2026-07-28';

export type FaultEra = 'legacy' | 'modern';

export interface Received {
  /** Of HTTP. */
  readonly verb: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Of JSON-RPC. */
  readonly method: string | undefined;
  readonly id: unknown;
  readonly params: Record<string, unknown>;
  /** Of an answer to something the server asked. */
  readonly result: unknown;
  readonly error: unknown;
}

/** A `tools/call` that came in; how it is answered is the fault's business. */
interface Call {
  readonly id: number;
  readonly mark: string;
  readonly progressToken: unknown;
  readonly response: ServerResponse;
  readonly server: FaultServer;
  /** Who comes back for this event is served so. */
  hold(eventId: string, come: (response: ServerResponse) => unknown): void;
}

type Fault = (call: Call) => unknown;

/** A server of either era that answers calls as `arguments.fault` says, and counts what it executes. */
export interface FaultServer extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** How often a call with this mark was executed, however it was answered. */
  executions(mark: string): number;
  /** Resolves with the first request that fits, also one that has come already. */
  receives(fits: (request: Received) => boolean): Promise<Received>;
  /** Bytes sent on connections that are closed by now. */
  readonly bytesSent: number;
  /** What the server is, from now on; open sessions stay as they are. */
  era: FaultEra;
  tools: unknown[];
  /** How it refuses sessions it does not know. */
  refusal: { readonly status: number; readonly code: number };
  /** Whether it has a stream to speak on by itself, in the older eras. */
  hasStream: boolean;
  /** Answers requests other than `tools/call` instead of the server; `false` leaves it to that. */
  instead: (request: Received, response: ServerResponse) => unknown;
  /** Streams on which announcements go out. */
  readonly listeners: number;
  announce(): void;
  /** Says this on every such stream. */
  say(message: object): void;
  /** Ends these streams, not their connections. */
  endStreams(): void;
  forgetSessions(): void;
  /** Ends every connection and listens no more. */
  kill(): Promise<void>;
  /** Listens again, at the same port, with everything forgotten. */
  start(): Promise<void>;
}

function json(response: ServerResponse, value: unknown, status = 200, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

function text(response: ServerResponse, status: number, body = '', type = 'text/plain') {
  response.writeHead(status, { 'content-type': type }).end(body);
}

/** Bytes as they are, and the end of the connection. */
function raw(response: ServerResponse, bytes: string | Buffer) {
  response.socket!.end(bytes);
}

const stream = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const event = (value: unknown, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(value)}\n\n`;
const resultOf = ({ mark }: Pick<Call, 'mark'>) => ({
  resultType: 'complete',
  content: [{ type: 'text', text: mark }],
});
const answerTo = (call: Pick<Call, 'mark'>, id: unknown) => ({ jsonrpc: '2.0', id, result: resultOf(call) });
const errorTo = (id: unknown, code: number, data?: unknown) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message: `error ${code}`, ...(data !== undefined && { data }) },
});

/** Writes as much as is taken: the same again without end, or so many times. */
async function pour(response: ServerResponse, chunk: Buffer | string, times = Infinity): Promise<void> {
  async function* chunks() {
    for (let n = 0; n < times; n++) yield chunk;
  }
  await pipeline(chunks, response, { end: false }).catch(() => undefined);
}

const CHUNK = Buffer.alloc(256 * 1024, 'x');
const GARBAGE = Buffer.from([0x16, 0x03, 0x01, 0x00, 0xff, 0x0d, 0x0a, 0x0d, 0x0a]);

export const FAULTS = {
  none: call => json(call.response, answerTo(call, call.id)),
  streamed: call => stream(call.response).end(event(answerTo(call, call.id))),
  html: ({ response }) => text(response, 200, '<html>hello</html>', 'text/html'),
  'html called JSON': ({ response }) => text(response, 200, '<html>hello</html>', 'application/json'),
  'half a JSON': ({ response }) => text(response, 200, '{"jsonrpc":"2.0","id":', 'application/json'),
  empty: ({ response }) => response.writeHead(200).end(),
  'empty JSON': ({ response }) => text(response, 200, '', 'application/json'),
  'a number': ({ response }) => json(response, 5),
  accepted: ({ response }) => response.writeHead(202).end(),
  'no content': ({ response }) => response.writeHead(204).end(),
  'no answers': ({ response }) => json(response, []),
  'a list of one': call => json(call.response, [answerTo(call, call.id)]),
  'a list as result': ({ response, id }) => json(response, { jsonrpc: '2.0', id, result: [] }),
  'no result': ({ response, id }) => json(response, { jsonrpc: '2.0', id }),
  'null as result': ({ response, id }) => json(response, { jsonrpc: '2.0', id, result: null }),
  'result and error': call =>
    json(call.response, { ...answerTo(call, call.id), ...errorTo(call.id, -32603) }),
  'another id': call => json(call.response, answerTo({ mark: 'stolen' }, call.id + 1_000)),
  'the id as text': call => json(call.response, answerTo({ mark: 'stolen' }, String(call.id))),
  'no id': call => json(call.response, answerTo({ mark: 'stolen' }, null)),
  'an error without id': ({ response }) => json(response, errorTo(null, -32603)),
  'an error': ({ response, id }) => json(response, errorTo(id, -32603)),
  'wrong arguments': ({ response, id }) => json(response, errorTo(id, -32602)),
  'another id, streamed': call =>
    stream(call.response).end(event(answerTo({ mark: 'stolen' }, call.id + 1_000))),
  'another id first': call =>
    stream(call.response).end(
      event(answerTo({ mark: 'stolen' }, String(call.id))) + event(answerTo(call, call.id)),
    ),
  'two answers': call =>
    stream(call.response).end(event(answerTo(call, call.id)) + event(answerTo({ mark: 'stolen' }, call.id))),
  /** Ids are counted, so the next one can be guessed. */
  'the next answer before its request': call =>
    stream(call.response).end(
      event(answerTo({ mark: 'stolen' }, call.id + 1)) + event(answerTo(call, call.id)),
    ),
  'ten million brackets': ({ response, id }) =>
    text(
      response,
      200,
      `{"jsonrpc":"2.0","id":${id},"result":{"a":[${'[],'.repeat(10_000_000)}1]}}`,
      'application/json',
    ),
  'an event that is no JSON': ({ response }) => stream(response).end('data: <html>\n\n'),
  compressed: call =>
    call.response
      .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      .end(gzipSync(JSON.stringify(answerTo(call, call.id)))),
  ...Object.fromEntries(
    [400, 404, 405, 409, 413, 422, 429, 500, 502, 503, 504].map(status => [
      `status ${status}`,
      ({ response }: Call) => text(response, status, 'no'),
    ]),
  ),
  'status 400 with an error': ({ response, id }) => json(response, errorTo(id, -32000), 400),
  'status 500 with an error': ({ response, id }) => json(response, errorTo(id, -32603), 500),
  'status 401': ({ response }) =>
    response.writeHead(401, { 'www-authenticate': 'Bearer realm="fault"' }).end(),
  'status 403': ({ response }) => text(response, 403, 'no'),
  redirected: ({ response, mark, server }) =>
    response.writeHead(307, { location: `${new URL(server.url).pathname}/moved?${mark}` }).end(),
  'redirected for good': ({ response, server }) =>
    response.writeHead(308, { location: `${new URL(server.url).pathname}/moved` }).end(),
  'redirected elsewhere': ({ response }) =>
    response.writeHead(307, { location: 'http://127.0.0.2:9/mcp' }).end(),
  'redirected to metadata': ({ response }) =>
    response.writeHead(308, { location: 'http://169.254.169.254/latest/' }).end(),
  'redirected as GET': ({ response, server }) =>
    response.writeHead(303, { location: `${server.url}/moved` }).end(),
  'redirected for ever': ({ response, server }) =>
    response.writeHead(307, { location: `${server.url}/loop` }).end(),
  reset: ({ response }) => response.socket!.resetAndDestroy(),
  hangup: ({ response }) => response.socket!.destroy(),
  'half a body': ({ response }) =>
    raw(response, 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":'),
  'no HTTP': ({ response }) => raw(response, GARBAGE),
  'too many headers': ({ response }) =>
    raw(response, `HTTP/1.1 200 OK\r\n${`x-long: ${'y'.repeat(1_000)}\r\n`.repeat(100)}\r\n`),
  'a stream without answer': ({ response }) => stream(response).end(': nothing\n\n'),
  'a stream that breaks': ({ response }) => {
    stream(response).write(': nothing\n\n');
    response.socket!.resetAndDestroy();
  },
  silent: () => undefined,
  'silent after the headers': ({ response }) => stream(response).write(': nothing\n\n'),
  drip: async call => {
    call.response.writeHead(200, { 'content-type': 'application/json' });
    for (const char of ' '.repeat(10_000)) {
      if (call.response.destroyed) return;
      call.response.write(char);
      await wait(10);
    }
  },
  'comments without end': ({ response }) => pour(stream(response), ': still here\n\n'.repeat(1_000)),
  'events without end': ({ response }) =>
    pour(
      stream(response),
      event({ jsonrpc: '2.0', method: 'notifications/message', params: {} }).repeat(100),
    ),
  'a large JSON': ({ response }) =>
    pour(response.writeHead(200, { 'content-type': 'application/json' }), CHUNK),
  'a large event': ({ response }) => {
    stream(response).write('data: "');
    return pour(response, CHUNK);
  },
  'an event of many lines': ({ response }) => pour(stream(response), ': x\ndata: x\n'.repeat(10_000)),
  'a line of carriage returns': ({ response }) => pour(stream(response), '\r'.repeat(65_536)),
  'a million notices': async call => {
    stream(call.response);
    const notice = event({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: call.progressToken ?? call.id, progress: 1 },
    }).repeat(1_000);
    await pour(call.response, notice, 1_000);
    call.response.end(event(answerTo(call, call.id)));
  },
  /** In the older eras a server may hang up behind an event and be asked again. */
  resumed: call => {
    const lines = event(answerTo(call, call.id), `${call.mark}-2`);
    call.hold(`${call.mark}-1`, response => response.end(lines));
    stream(call.response).end(`id: ${call.mark}-1\nretry: 1\ndata:\n\n`);
  },
  'changed tools': call => {
    call.server.tools = [...call.server.tools, tool(`added ${call.mark}`)];
    call.server.announce();
    json(call.response, answerTo(call, call.id));
  },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS | `status ${number}`;

/** Faults that refuse a call instead of executing it. */
const REFUSALS = /^(?:status 4|redirected|wrong arguments)/;

export function tool(name: string) {
  return { name, description: name, inputSchema: { type: 'object', properties: {} } };
}

export async function startFaultServer(era: FaultEra, port = 0): Promise<FaultServer> {
  const received: Received[] = [];
  const executed = new Map<string, number>();
  const waiting = new Set<() => void>();
  const sockets = new Set<Socket>();
  const sessions = new Set<string>();
  /** Answers to come back for. */
  const held = new Map<string, (response: ServerResponse) => unknown>();
  const streams = new Map<ServerResponse, (method: string) => unknown>();
  let bytesSent = 0;
  let lastId = 0;
  let listener: Server;

  function sendAnnouncement(): void {
    for (const send of streams.values()) send('notifications/tools/list_changed');
  }

  function listenOn(response: ServerResponse, subscription?: unknown): void {
    stream(response).flushHeaders();
    const params = subscription === undefined ? {} : { _meta: { [SUBSCRIPTION_KEY]: subscription } };
    const send = (method: string, more: object = {}) =>
      response.write(event({ jsonrpc: '2.0', method, params: { ...params, ...more } }));
    if (subscription !== undefined)
      send('notifications/subscriptions/acknowledged', { notifications: { toolsListChanged: true } });
    streams.set(response, send);
    response.on('close', () => streams.delete(response));
  }

  function call({ id, params }: Received, response: ServerResponse): void {
    const { fault = 'none', mark = '' } = (params.arguments ?? {}) as { fault?: FaultName; mark?: string };
    if (!REFUSALS.test(fault)) executed.set(mark, (executed.get(mark) ?? 0) + 1);
    const { progressToken } = (params._meta ?? {}) as { progressToken?: unknown };
    const run = (FAULTS as Record<string, Fault>)[fault]!;
    run({ id: id as number, mark, progressToken, response, server, hold: (at, come) => held.set(at, come) });
  }

  function withoutCall(request: Received, response: ServerResponse): unknown {
    const { method, id } = request;
    switch (method) {
      case 'tools/list':
        return json(response, {
          jsonrpc: '2.0',
          id,
          result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', tools: server.tools },
        });
      case 'ping':
        return json(response, { jsonrpc: '2.0', id, result: {} });
      case 'subscriptions/listen':
        return listenOn(response, id);
      default:
        return id === undefined ? response.writeHead(202).end() : json(response, errorTo(id, -32601));
    }
  }

  function legacy(request: Received, response: ServerResponse): unknown {
    const { verb, method, id, headers } = request;
    if (method === 'initialize') {
      const session = `session-${++lastId}`;
      sessions.add(session);
      const result = {
        protocolVersion: '2025-11-25',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'fault', version: '1.0.0' },
      };
      return json(response, { jsonrpc: '2.0', id, result }, 200, { 'mcp-session-id': session });
    }
    if (!sessions.has(String(headers['mcp-session-id'])))
      return json(response, errorTo(null, server.refusal.code), server.refusal.status);
    if (verb === 'DELETE') {
      sessions.delete(String(headers['mcp-session-id']));
      return response.writeHead(204).end();
    }
    if (verb === 'GET') {
      const come = held.get(String(headers['last-event-id']));
      if (come) return come(stream(response));
      return server.hasStream ? listenOn(response) : text(response, 405);
    }
    return method === 'tools/call' ? call(request, response) : withoutCall(request, response);
  }

  function modern(request: Received, response: ServerResponse): unknown {
    const { verb, method, id, params } = request;
    if (verb !== 'POST') return text(response, 405);
    const version = (params._meta as Record<string, unknown> | undefined)?.[VERSION_KEY];
    if (id !== undefined && version !== MODERN)
      return json(response, errorTo(id, -32022, { supported: [MODERN], requested: version }), 400);
    if (method === 'server/discover') {
      const result = {
        resultType: 'complete',
        ttlMs: 0,
        cacheScope: 'public',
        supportedVersions: [MODERN],
        capabilities: { tools: { listChanged: true } },
      };
      return json(response, { jsonrpc: '2.0', id, result });
    }
    if (method === 'ping' || method === 'initialize') return json(response, errorTo(id, -32601), 404);
    return method === 'tools/call' ? call(request, response) : withoutCall(request, response);
  }

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    let body = '';
    try {
      for await (const chunk of incoming) body += String(chunk);
    } catch {
      return;
    }
    const message = body === '' ? {} : (JSON.parse(body) as Partial<Received>);
    const request: Received = {
      verb: incoming.method!,
      path: incoming.url!,
      headers: incoming.headers,
      method: message.method,
      id: message.id,
      params: message.params ?? {},
      result: message.result,
      error: message.error,
    };
    received.push(request);
    for (const look of waiting) look();
    if (request.path.includes('/moved') && request.method === 'tools/call') {
      const { mark } = request.params.arguments as { mark: string };
      executed.set(mark, (executed.get(mark) ?? 0) + 1);
      return json(response, answerTo({ mark }, request.id));
    }
    if (server.instead(request, response) !== false) return;
    if (server.era === 'legacy') legacy(request, response);
    else modern(request, response);
  }

  async function start(): Promise<void> {
    sessions.clear();
    listener = createServer(handle).listen(port, '127.0.0.1');
    listener.on('connection', socket => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        bytesSent += socket.bytesWritten;
        sockets.delete(socket);
      });
    });
    await once(listener, 'listening');
    port = (listener.address() as AddressInfo).port;
  }

  async function kill(): Promise<void> {
    if (!listener.listening) return;
    listener.close();
    for (const socket of sockets) socket.destroy();
    await once(listener, 'close');
    // The other side is in this process: it sees the ends of its connections in the next turns of the event loop.
    for (let turn = 0; turn < 10; turn++) await setImmediate();
  }

  const server: FaultServer = {
    get url() {
      return `http://127.0.0.1:${port}/mcp`;
    },
    received,
    executions: mark => executed.get(mark) ?? 0,
    receives: fits =>
      new Promise(resolve => {
        const look = () => {
          const found = received.find(fits);
          if (!found) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    get bytesSent() {
      return bytesSent;
    },
    era,
    tools: [tool('call')],
    refusal: { status: 404, code: -32001 },
    hasStream: true,
    instead: () => false,
    get listeners() {
      return streams.size;
    },
    announce: sendAnnouncement,
    say(message) {
      for (const response of streams.keys()) response.write(event(message));
    },
    endStreams() {
      for (const response of streams.keys()) response.end();
    },
    forgetSessions: () => sessions.clear(),
    kill,
    start,
    [Symbol.asyncDispose]: kill,
  };
  await start();
  return server;
}
