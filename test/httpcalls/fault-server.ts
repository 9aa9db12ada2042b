import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

export interface ReceivedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server that counts what reaches it and misbehaves as the path says. */
export interface FaultServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Bytes it got rid of on connections that are closed by now. */
  readonly bytesWritten: number;
  /** Resolves when no connection is open. */
  idle(): Promise<void>;
}

type Fault = (response: ServerResponse, request: ReceivedRequest) => unknown;

const CHUNK = Buffer.alloc(64 * 1024, 'x');

function json(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** What no HTTP server says: the bytes as they are, and the end of the connection. */
function raw(response: ServerResponse, text: string | Buffer): void {
  response.socket!.end(text);
}

const FAULTS: Readonly<Record<string, Fault>> = {
  ok: response => json(response, { ok: true }),
  /** Some time after it arrived, so that its caller may die meanwhile. */
  later: async (response, { body }) => {
    await wait(body.length % 20);
    json(response, { ok: true });
  },
  echo: (response, { headers, body }) =>
    json(response, { headers, body }, 200, { 'x-api-key': 'k', 'x-seen': 'yes' }),
  silent: () => undefined,
  drip: async response => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    while (!response.destroyed) {
      response.write('.');
      await wait(20);
    }
  },
  endless: async response => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    while (!response.destroyed) {
      if (!response.write(CHUNK)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
  },
  huge: response => response.writeHead(200, { 'content-length': String(10 ** 12) }).write(CHUNK),
  bomb: response =>
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(BOMB),
  wrong: response => response.writeHead(200, { 'content-type': 'application/json' }).end('<html>no</html>'),
  binary: response =>
    response
      .writeHead(200, { 'content-type': 'text/plain' })
      .end(Buffer.from([0x61, 0xff, 0xfe, 0x00, 0x62])),
  loop: response => response.writeHead(302, { location: '/loop' }).end(),
  home: response => response.writeHead(302, { location: '/ok' }).end(),
  inside: response => response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  file: response => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  half: response =>
    raw(response, 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a":'),
  reset: response => response.socket!.resetAndDestroy(),
  garbage: response => raw(response, Buffer.from([0x16, 0x03, 0x01, 0x00, 0xff, 0x0d, 0x0a, 0x0d, 0x0a])),
  chunks: response => raw(response, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZZ\r\nno\r\n'),
  headers: response =>
    raw(response, `HTTP/1.1 200 OK\r\n${`x-long: ${'y'.repeat(1_000)}\r\n`.repeat(100)}\r\n`),
  deep: response => response.writeHead(200, { 'content-type': 'application/json' }).end('['.repeat(1_000)),
  down: response => json(response, { why: 'down' }, 503),
  busy: response => json(response, { why: 'busy' }, 429, { 'retry-after': '1' }),
};

/** 100 MB of nothing. */
const BOMB = gzipSync(Buffer.alloc(100 * 1024 * 1024));

export async function startFaultServer(): Promise<FaultServer> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let written = 0;
  let onIdle = () => {};
  const server = createServer(async (incoming, response) => {
    const request = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: await textOf(incoming),
    };
    requests.push(request);
    const name = request.path.slice(1).split(/[/?]/)[0]!;
    (FAULTS[name] ?? FAULTS.ok)!(response, request);
  });
  server.on('connection', socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      written += socket.bytesWritten;
      sockets.delete(socket);
      if (sockets.size === 0) onIdle();
    });
  });
  server.keepAliveTimeout = 1;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get bytesWritten() {
      return written;
    },
    idle: () =>
      new Promise<void>(resolve => {
        onIdle = resolve;
        server.closeIdleConnections();
        if (sockets.size === 0) resolve();
      }),
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  return text;
}
