import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { PlatformError } from './errors.ts';
import { createSafeFetch, type DirectRequest, type SafeFetchOptions } from './safe-fetch.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', socket => sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function serve(answer: RequestListener = (_request, response) => response.end('hello')) {
  const seen: Seen[] = [];
  const listener: RequestListener = async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push({ method: request.method!, url: request.url!, headers: request.headers, body });
    await answer(request, response);
  };
  return { seen, port: await listen(createServer(listener)) };
}

function make(options: Partial<SafeFetchOptions> = {}) {
  const safeFetch = createSafeFetch({
    allowPrivate: () => true,
    resolve: async () => {
      throw new Error('this test resolves nothing');
    },
    ...options,
  });
  cleanups.push(() => safeFetch.close());
  return (url: string, init: Partial<DirectRequest> = {}) =>
    safeFetch.request(new URL(url), {
      hostFrom: 'operator',
      method: 'POST',
      headers: {},
      body: 'call',
      signal: new AbortController().signal,
      insecureTls: false,
      ...init,
    });
}

async function refusal(promise: Promise<unknown>): Promise<PlatformError> {
  const thrown = await promise.then(
    () => 'it was answered',
    error => error,
  );
  expect(thrown).toBeInstanceOf(PlatformError);
  return thrown;
}

const loopback = async () => ['127.0.0.1'];

describe('One exchange', () => {
  it('is the request as it was given and the answer as it came, packed or redirected as it may be', async () => {
    const packed = gzipSync('hello');
    const { port, seen } = await serve((_request, response) =>
      response.writeHead(307, { location: '/there', 'Content-Encoding': 'gzip' }).end(packed),
    );
    const headers = { 'X-Mine': 'a', accept: 'text/plain' };
    const { status, headers: got, body } = await make()(`http://127.0.0.1:${port}/mcp?key=1`, { headers });
    expect(status).toBe(307);
    expect(got).toMatchObject({ location: '/there', 'content-encoding': 'gzip' });
    expect(Buffer.concat(await body.toArray())).toEqual(packed);
    expect(seen).toEqual([expect.objectContaining({ method: 'POST', url: '/mcp?key=1', body: 'call' })]);
    expect(seen[0]!.headers).toMatchObject({ 'x-mine': 'a', accept: 'text/plain', 'content-length': '4' });
    expect(seen[0]!.headers).not.toHaveProperty('accept-encoding');
  });

  it('carries no header with which it could speak to somebody else', async () => {
    const { port, seen } = await serve();
    const headers = {
      Host: 'admin.internal',
      Connection: 'upgrade',
      Upgrade: 'websocket',
      'Proxy-Authorization': 'Basic x',
      'Proxy-Connection': 'close',
      'Transfer-Encoding': 'chunked',
      'x-mine': 'kept',
    };
    const { body } = await make()(`http://127.0.0.1:${port}/`, { headers });
    await body.dump();
    expect(seen[0]!.headers).toEqual({
      host: `127.0.0.1:${port}`,
      connection: 'keep-alive',
      'content-length': '4',
      'x-mine': 'kept',
    });
  });

  it('with a header that is none is not sent, and its value is not told', async () => {
    const { port, seen } = await serve();
    const bad: Record<string, string>[] = [
      { authorization: 'Bearer canary\r\nx-evil: 1' },
      { 'bad name': 'canary' },
    ];
    for (const headers of bad) {
      const error = await refusal(make()(`http://127.0.0.1:${port}/`, { headers }));
      expect(error).toMatchObject({ kind: 'invalid', details: { reason: 'header', sent: false } });
      expect(`${error.message}${error.cause}`).not.toContain('canary');
    }
    expect(seen).toEqual([]);
  });

  it('ends when the caller gives up, whose reason comes back as it is', async () => {
    const { port } = await serve(() => undefined);
    const controller = new AbortController();
    const asking = make()(`http://127.0.0.1:${port}/`, { signal: controller.signal });
    const why = new Error('enough');
    controller.abort(why);
    await expect(asking).rejects.toBe(why);
  });
});

describe('A private address', () => {
  it.each([
    '127.0.0.1',
    '2130706433',
    '0177.1',
    '0x7f.1',
    '127.0.0.1.',
    'localhost',
    'localhost.localdomain',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '0.0.0.0',
    '10.0.0.5',
    '100.64.0.1',
    '169.254.169.254',
    'metadata.google.internal',
  ])('written as %s is not connected to for somebody from outside (attack 30)', async host => {
    const { port, seen } = await serve();
    const error = await refusal(
      make({ resolve: loopback })(`http://${host}:${port}/`, { hostFrom: 'outside' }),
    );
    expect(error.details).toMatchObject({ reason: 'address', sent: false });
    expect(seen).toEqual([]);
  });

  it.each(['169.254.169.254', 'metadata.google.internal', '0.0.0.0', '[fe80::1]'])(
    'that is %s is not connected to for an operator either (attack 30)',
    async host => {
      const error = await refusal(make({ resolve: async () => ['169.254.169.254'] })(`http://${host}/`));
      expect(error.details).toMatchObject({ reason: 'address', sent: false });
    },
  );

  it('that a name turns to later is not connected to: each connection goes to what was checked for it (attack 31)', async () => {
    const { port, seen } = await serve((_request, response) =>
      response.setHeader('connection', 'close').end('hello'),
    );
    const answers = [['127.0.0.1'], ['169.254.169.254']];
    let asked = 0;
    const request = make({ resolve: async () => answers[asked++]! });
    await (await request(`http://rebind.example:${port}/`)).body.dump();
    expect(seen[0]!.headers.host).toBe(`rebind.example:${port}`);
    expect((await refusal(request(`http://rebind.example:${port}/`))).details).toMatchObject({
      reason: 'address',
      sent: false,
    });
    expect(asked).toBe(2);
    expect(seen).toHaveLength(1);
  });

  it('reached for an operator does not lend its open connection to a request from outside', async () => {
    const { port, seen } = await serve();
    const request = make({ resolve: loopback });
    await (await request(`http://kept.example:${port}/`)).body.dump();
    await refusal(request(`http://kept.example:${port}/`, { hostFrom: 'outside' }));
    expect(seen).toHaveLength(1);
  });
});

describe('Whether a request can have arrived (A-67)', () => {
  it.each<[string, () => Promise<string>]>([
    [
      'nobody listens',
      async () => {
        const server = createTcpServer();
        const port = await listen(server);
        server.close();
        await once(server, 'close');
        return `http://127.0.0.1:${port}/`;
      },
    ],
    ['the name is not known', async () => 'http://nobody.example/'],
    ['there is no TLS', async () => `https://127.0.0.1:${(await serve()).port}/`],
    ['the handshake does not end', async () => `https://127.0.0.1:${await listen(createTcpServer())}/`],
    [
      'the handshake is broken off',
      async () => `https://127.0.0.1:${await listen(createTcpServer(socket => socket.destroy()))}/`,
    ],
  ])('is certain when %s: it has not', async (_, where) => {
    const request = make({ limits: { connectMs: 200 } });
    const error = await refusal(request(await where()));
    expect(error).toMatchObject({ kind: 'unavailable', details: { sent: false } });
  });

  it.each<[string, (socket: Socket) => unknown]>([
    ['resets the connection', socket => socket.resetAndDestroy()],
    ['hangs up', socket => socket.destroy()],
    ['answers with something that is not HTTP', socket => socket.end('hello\r\n\r\n')],
    ['answers with half a header', socket => socket.end('HTTP/1.1 200 OK\r\ncontent-')],
    [
      'answers with too many headers',
      socket => socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`),
    ],
  ])('is not when the server reads it and %s', async (_, then) => {
    const port = await listen(createTcpServer(socket => void socket.once('data', () => then(socket))));
    const error = await refusal(make()(`http://127.0.0.1:${port}/`));
    expect(error.details).toEqual({ reason: 'broken', sent: true });
  });
});
