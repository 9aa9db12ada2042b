import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { PlatformError } from './errors.ts';
import { createSafeFetch, type SafeFetchOptions } from './safe-fetch.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** Made for this test; opens nothing. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBZjCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAWMRQwEgYDVQQDDAtwaW5uZWQu
dGVzdDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFjEUMBIGA1UE
AwwLcGlubmVkLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAASq/SNh/MXc
xGjMT/hLlzERzYRcNUmDvqlMFjIkIyWYOE67BfKufjvQ9kci+CymeREJzOqQ/Uqh
00ejaScLiAcUo0owSDAWBgNVHREEDzANggtwaW5uZWQudGVzdDAPBgNVHRMBAf8E
BTADAQH/MB0GA1UdDgQWBBQpsYtgKTDP+lEqymZTmosArlBbrzAKBggqhkjOPQQD
AgNHADBEAiBi86woa/cFupUTkjCrITEcsQdwpUedOnsWwTTOjcML2wIgD5USkd/g
S7bNcF6aLRw+R8MQJe+UHqZFunm9wIe8Z9M=
-----END CERTIFICATE-----`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYFj4yIU4+ghxMwnR
pcPzDMptbAinOKv1U1q4HjvLBcehRANCAASq/SNh/MXcxGjMT/hLlzERzYRcNUmD
vqlMFjIkIyWYOE67BfKufjvQ9kci+CymeREJzOqQ/Uqh00ejaScLiAcU
-----END PRIVATE KEY-----`;

async function serve(handler: RequestListener, tls = false) {
  const seen: {
    url: string;
    method: string;
    headers: IncomingMessage['headers'];
    body: string;
    servername?: unknown;
  }[] = [];
  const listener: RequestListener = async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const servername = (request.socket as { servername?: unknown }).servername;
    seen.push({ url: request.url!, method: request.method!, headers: request.headers, body, servername });
    await handler(request, response);
  };
  const server = tls ? createTlsServer({ cert: CERTIFICATE, key: KEY }, listener) : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, seen };
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
  return safeFetch;
}

async function refusal(promise: Promise<unknown>): Promise<PlatformError> {
  const thrown = await promise.then(
    () => 'it was answered',
    error => error,
  );
  expect(thrown).toBeInstanceOf(PlatformError);
  return thrown;
}

const hello: RequestListener = (_request, response) => response.end('hello');

describe('a private address', () => {
  const spellings = [
    '127.0.0.1',
    '2130706433',
    '0177.1',
    '0x7f.1',
    '0x7f000001',
    '127.1',
    '127.0.0.1.',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '0.0.0.0',
    '[::]',
    '0',
    '10.0.0.5',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '[fc00::1]',
    '224.0.0.1',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'x.localhost',
    'localhost.localdomain',
    'metadata',
    'metadata.google.internal',
    'printer.local',
  ];

  it.each(spellings)('spelled %s is not connected to for an outsider', async host => {
    const { port, seen } = await serve(hello);
    const asked: string[] = [];
    const safeFetch = make({
      resolve: async name => {
        asked.push(name);
        return ['127.0.0.1'];
      },
    });
    const error = await refusal(safeFetch(`http://${host}:${port}/`, { hostFrom: 'outside' }));
    expect(error).toMatchObject({ kind: 'invalid', details: { reason: 'address', sent: false } });
    expect(seen).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('that a name resolves to is not connected to, even as one of many', async () => {
    const { port, seen } = await serve(hello);
    for (const addresses of [
      ['127.0.0.1'],
      ['1.1.1.1', '127.0.0.1'],
      ['::ffff:127.0.0.1'],
      ['1.1.1.1', 'nonsense'],
    ]) {
      const safeFetch = make({ resolve: async () => addresses });
      const error = await refusal(safeFetch(`http://rebind.example:${port}/`, { hostFrom: 'outside' }));
      expect(error.message).toBe(
        `http://rebind.example:${port}/ can't be reached: rebind.example has no public address`,
      );
    }
    expect(seen).toEqual([]);
  });

  it('and a name nobody knows read the same for an outsider, and differ for an operator', async () => {
    const inside = make({ resolve: async () => ['10.0.0.7'], allowPrivate: () => false });
    const unknown = make({ allowPrivate: () => false });
    const url = 'http://db.example/';
    const [first, second] = [
      await refusal(inside(url, { hostFrom: 'outside' })),
      await refusal(unknown(url, { hostFrom: 'outside' })),
    ];
    expect([second.message, second.kind, second.details]).toEqual([first.message, first.kind, first.details]);
    expect((await refusal(inside(url, { hostFrom: 'operator' }))).message).toContain(
      'db.example is at a private address',
    );
    expect((await refusal(unknown(url, { hostFrom: 'operator' }))).message).toContain(
      'db.example has no address',
    );
  });

  it('is named in the words the registry promises', async () => {
    const error = await refusal(make()('https://10.0.0.5/mcp?token=x', { hostFrom: 'outside' }));
    expect(error.message).toBe("https://10.0.0.5/mcp can't be reached: 10.0.0.5 is a private address");
  });

  it('is open to an operator for the hosts the policy names, and to nobody else', async () => {
    const { port, seen } = await serve(hello);
    const asked: string[] = [];
    const safeFetch = make({
      resolve: async () => ['127.0.0.1'],
      allowPrivate: host => {
        asked.push(host);
        return host === 'ollama.example' || host === '127.0.0.1';
      },
    });
    const get = (host: string, hostFrom: 'operator' | 'outside') =>
      safeFetch(`http://${host}:${port}/`, { hostFrom }).then(response => response.text());
    expect(await get('Ollama.Example.', 'operator')).toBe('hello');
    expect(await get('127.0.0.1', 'operator')).toBe('hello');
    await refusal(get('other.example', 'operator'));
    await refusal(get('ollama.example', 'outside'));
    await refusal(get('127.0.0.1', 'outside'));
    expect(asked).toEqual(['ollama.example', '127.0.0.1', 'other.example']);
    expect(seen).toHaveLength(2);
  });

  it('of the cloud, and link-local ones, stay closed to operators too', async () => {
    const safeFetch = make({ resolve: async () => ['169.254.169.254'] });
    for (const host of [
      '169.254.169.254',
      '[fe80::1]',
      'metadata.google.internal',
      '0.0.0.0',
      'innocent.example',
    ]) {
      expect((await refusal(safeFetch(`http://${host}/`, { hostFrom: 'operator' }))).details).toMatchObject({
        reason: 'address',
      });
    }
  });

  it('reached for an operator does not lend its open connection to a request from outside', async () => {
    const { port, seen } = await serve(hello);
    const safeFetch = make({ resolve: async () => ['127.0.0.1'] });
    const url = `http://kept.example:${port}/`;
    await (await safeFetch(url, { hostFrom: 'operator' })).text();
    await refusal(safeFetch(url, { hostFrom: 'outside' }));
    expect(seen).toHaveLength(1);
  });
});

describe('a name', () => {
  it('is resolved once, and what it says afterwards does not matter (rebinding)', async () => {
    const { port, seen } = await serve((_request, response) =>
      response.setHeader('connection', 'close').end('hello'),
    );
    const answers = [['127.0.0.1'], ['169.254.169.254']];
    let asked = 0;
    const safeFetch = make({ resolve: async () => answers[asked++]! });
    const url = `http://rebind.example:${port}/`;
    expect(await (await safeFetch(url, { hostFrom: 'operator' })).text()).toBe('hello');
    expect(asked).toBe(1);
    expect(seen[0]!.headers.host).toBe(`rebind.example:${port}`);
    // A second connection asks again, and the second answer is checked like the first.
    expect((await refusal(safeFetch(url, { hostFrom: 'operator' }))).details).toMatchObject({
      reason: 'address',
    });
    expect(asked).toBe(2);
  });

  it('is what the certificate is checked against and what SNI and Host say', async () => {
    const { port, seen } = await serve(hello, true);
    const safeFetch = make({ resolve: async () => ['127.0.0.1'], extraCa: [CERTIFICATE] });
    expect(await (await safeFetch(`https://pinned.test:${port}/`, { hostFrom: 'operator' })).text()).toBe(
      'hello',
    );
    expect(seen[0]).toMatchObject({ servername: 'pinned.test', headers: { host: `pinned.test:${port}` } });
    await safeFetch(`https://pinned.test.:${port}/`, { hostFrom: 'operator' });
    expect(seen[1]).toMatchObject({ servername: 'pinned.test' });
    for (const host of ['other.test', '127.0.0.1']) {
      const error = await refusal(safeFetch(`https://${host}:${port}/`, { hostFrom: 'operator' }));
      expect(error).toMatchObject({ kind: 'unavailable', details: { reason: 'connect', sent: false } });
      expect(error.message).toBe(`https://${host}:${port}/ can't be reached: no connection could be made`);
    }
    const distrusting = make({ resolve: async () => ['127.0.0.1'] });
    await refusal(distrusting(`https://pinned.test:${port}/`, { hostFrom: 'operator' }));
    expect(seen).toHaveLength(2);
  });

  it('cannot be replaced by a Host header of the caller', async () => {
    const { port, seen } = await serve(hello);
    const headers = { host: 'admin.internal', 'proxy-authorization': 'Basic x', 'x-mine': 'kept' };
    await make()(`http://127.0.0.1:${port}/`, { hostFrom: 'operator', headers });
    expect(seen[0]!.headers).toMatchObject({ host: `127.0.0.1:${port}`, 'x-mine': 'kept' });
    expect(seen[0]!.headers).not.toHaveProperty('proxy-authorization');
  });

  it.each([
    'file:///etc/passwd',
    'ftp://example.com/',
    'data:text/plain,x',
    'gopher://example.com/',
    'http://user:canary-pass@example.com/',
    'not a url',
  ])('in %s is not fetched at all', async url => {
    const error = await refusal(make()(url, { hostFrom: 'operator' }));
    expect(error).toMatchObject({ kind: 'invalid', details: { reason: 'url', sent: false } });
    expect(error.message).not.toContain('canary-pass');
  });
});

describe('a redirect', () => {
  const to =
    (location: string, status = 302): RequestListener =>
    (request, response) =>
      request.url === '/end'
        ? response.end('end')
        : response.writeHead(status, { location }).end('x'.repeat(1000));

  it('inside the origin is followed, with credentials and body', async () => {
    const { port, seen } = await serve(to('/end', 307));
    const response = await make()(`http://127.0.0.1:${port}/start`, {
      hostFrom: 'operator',
      method: 'POST',
      body: 'payload',
      headers: { authorization: 'Bearer abcdef' },
    });
    expect(await response.text()).toBe('end');
    expect(response.redirected).toBe(true);
    expect(response.url).toBe(`http://127.0.0.1:${port}/end`);
    expect(seen[1]).toMatchObject({
      method: 'POST',
      body: 'payload',
      headers: { authorization: 'Bearer abcdef' },
    });
  });

  it('with 301, 302 or 303 turns a POST into a GET without body', async () => {
    for (const status of [301, 302, 303]) {
      const { port, seen } = await serve(to('/end', status));
      await make()(`http://127.0.0.1:${port}/`, {
        hostFrom: 'operator',
        method: 'POST',
        body: new URLSearchParams('a=b'),
      });
      expect(seen[0]).toMatchObject({
        body: 'a=b',
        headers: { 'content-type': expect.stringContaining('urlencoded') },
      });
      expect(seen[1]).toMatchObject({ method: 'GET', body: '' });
      expect(seen[1]!.headers).not.toHaveProperty('content-type');
    }
  });

  it.each([301, 302, 303, 307, 308])(
    'with %i from an allowed host to another private address is refused',
    async status => {
      const inner = await serve(hello);
      for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', 'name.example']) {
        const outer = await serve(to(`http://${host}:${inner.port}/`, status));
        const safeFetch = make({ resolve: async () => ['127.0.0.1'] });
        const error = await refusal(safeFetch(`http://127.0.0.1:${outer.port}/`, { hostFrom: 'operator' }));
        expect(error.message).toBe(
          `http://127.0.0.1:${outer.port}/ can't be reached: it redirects to an address that may not be used`,
        );
        expect(error.details).toEqual({ reason: 'redirect', sent: true });
      }
      expect(inner.seen).toEqual([]);
    },
  );

  it('to another scheme is refused', async () => {
    for (const location of [
      'file:///etc/passwd',
      'data:,x',
      'http://a:b@127.0.0.1/',
      'http://[',
      'ftp://x/',
    ]) {
      const { port } = await serve(to(location));
      const error = await refusal(make()(`http://127.0.0.1:${port}/`, { hostFrom: 'operator' }));
      expect(error.message).toMatch(/it redirects to something that is not fetched$/);
    }
  });

  it('from https to http is refused', async () => {
    const plain = await serve(hello);
    const { port } = await serve(to(`http://pinned.test:${plain.port}/`), true);
    const safeFetch = make({ resolve: async () => ['127.0.0.1'], extraCa: [CERTIFICATE] });
    const error = await refusal(safeFetch(`https://pinned.test:${port}/`, { hostFrom: 'operator' }));
    expect(error.message).toMatch(/it redirects from https to http$/);
    expect(plain.seen).toEqual([]);
  });

  it('is followed five times and no more', async () => {
    const chain =
      (length: number): RequestListener =>
      (request, response) => {
        const step = Number(request.url!.slice(1));
        if (step === length) response.end('arrived');
        else response.writeHead(302, { location: `/${step + 1}` }).end();
      };
    const five = await serve(chain(5));
    expect(await (await make()(`http://127.0.0.1:${five.port}/0`, { hostFrom: 'operator' })).text()).toBe(
      'arrived',
    );
    const six = await serve(chain(6));
    const error = await refusal(make()(`http://127.0.0.1:${six.port}/0`, { hostFrom: 'operator' }));
    expect(error.message).toMatch(/it redirects more than 5 times$/);
    expect(six.seen).toHaveLength(6);
  });

  it('is handed out or refused where the caller says so', async () => {
    const { port } = await serve(to('/end'));
    const url = `http://127.0.0.1:${port}/`;
    const manual = await make()(url, { hostFrom: 'operator', redirect: 'manual' });
    expect([manual.status, manual.headers.get('location')]).toEqual([302, '/end']);
    await refusal(make()(url, { hostFrom: 'operator', redirect: 'error' }));
  });
});

describe('limits', () => {
  const operator = { hostFrom: 'operator' } as const;

  it('cut a body that is announced too large, grows too large, or only gets large when unpacked', async () => {
    const bodies: RequestListener[] = [
      (_request, response) => response.setHeader('content-length', '100001').end('x'.repeat(100_001)),
      (_request, response) => {
        const timer = setInterval(() => response.write('x'.repeat(10_000)), 1);
        response.on('close', () => clearInterval(timer));
      },
      (_request, response) =>
        response.setHeader('content-encoding', 'gzip').end(gzipSync('x'.repeat(5_000_000))),
    ];
    for (const body of bodies) {
      const { port } = await serve(body);
      const safeFetch = make({ limits: { maxBytes: 100_000 } });
      const reading = safeFetch(`http://127.0.0.1:${port}/`, operator).then(response => response.text());
      const error = await refusal(reading);
      expect(error.message).toBe(
        `http://127.0.0.1:${port}/ can't be reached: its answer is larger than 100000 bytes`,
      );
      expect(error.details).toEqual({ reason: 'too_large', sent: true });
    }
    const { port } = await serve((_request, response) => response.end('x'.repeat(100_000)));
    const exact = await make({ limits: { maxBytes: 100_000 } })(`http://127.0.0.1:${port}/`, operator);
    expect((await exact.text()).length).toBe(100_000);
  });

  it('end a request that is not answered, trickles, or cannot connect in time', async () => {
    const silent = await serve(() => undefined);
    const trickle = await serve((_request, response) => {
      const timer = setInterval(() => response.write('x'), 10);
      response.on('close', () => clearInterval(timer));
    });
    const safeFetch = make({ limits: { totalMs: 150 } });
    for (const { port } of [silent, trickle]) {
      const error = await refusal(
        safeFetch(`http://127.0.0.1:${port}/`, operator).then(response => response.text()),
      );
      expect(error).toMatchObject({ kind: 'timeout', details: { reason: 'timeout', sent: true } });
    }
    const neverResolved = make({ resolve: () => new Promise(() => undefined), limits: { connectMs: 100 } });
    const error = await refusal(neverResolved('http://slow.example/', operator));
    expect(error.details).toEqual({ reason: 'connect', sent: false });
  });

  it('take their time from the clock that is given', async () => {
    const silent = await serve(() => undefined);
    let timeUp = () => {};
    const clock = { now: () => 0, sleep: () => new Promise<void>(resolve => (timeUp = resolve)) };
    const pending = refusal(make({ clock })(`http://127.0.0.1:${silent.port}/`, operator));
    while (silent.seen.length === 0) await new Promise(resolve => setTimeout(resolve, 5));
    timeUp();
    expect((await pending).kind).toBe('timeout');
  });

  it('give way to the caller, whose reason comes back as it is', async () => {
    const { port } = await serve((_request, response) => response.write('partial'));
    const controller = new AbortController();
    const response = await make()(`http://127.0.0.1:${port}/`, { ...operator, signal: controller.signal });
    const reason = new Error('the person cancelled');
    controller.abort(reason);
    await expect(response.text()).rejects.toBe(reason);
    await expect(
      make()(`http://127.0.0.1:${port}/`, { ...operator, signal: controller.signal }),
    ).rejects.toBe(reason);
  });
});

describe('a failure', () => {
  it('says what to think of it without saying what answered', async () => {
    const closed = createTcpServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const freePort = (closed.address() as AddressInfo).port;
    await new Promise(resolve => closed.close(resolve));
    const banner = createTcpServer(socket => socket.end('SSH-2.0-canary_banner\r\n')).listen(0, '127.0.0.1');
    await once(banner, 'listening');
    cleanups.push(() => banner.close());
    const hangUp = createTcpServer(socket => socket.once('data', () => socket.destroy())).listen(
      0,
      '127.0.0.1',
    );
    await once(hangUp, 'listening');
    cleanups.push(() => hangUp.close());

    const failure = async (port: number) =>
      refusal(make()(`http://127.0.0.1:${port}/p?q=canary_query`, { hostFrom: 'operator' }));
    expect(await failure(freePort)).toMatchObject({
      kind: 'unavailable',
      details: { reason: 'connect', sent: false },
    });
    for (const server of [banner, hangUp]) {
      const error = await failure((server.address() as AddressInfo).port);
      expect(error).toMatchObject({ kind: 'unavailable', details: { reason: 'broken', sent: true } });
      expect(error.message).not.toContain('canary');
    }
    expect((await failure(25)).details).toMatchObject({ reason: 'url', sent: false });
  });
});

describe('a connection over TLS', () => {
  it('that breaks after the request was read is none that never came about: nothing may be sent again (A-67)', async () => {
    let requests = 0;
    const server = createTlsServer({ cert: CERTIFICATE, key: KEY }, ({ socket }) => {
      requests += 1;
      // What is no record of TLS, as from a proxy that breaks down between the two.
      const wire = (socket as unknown as { _parent: Socket })._parent;
      wire.write('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanups.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const safeFetch = make({ resolve: async () => ['127.0.0.1'], extraCa: [CERTIFICATE] });
    const url = new URL(`https://pinned.test:${port}/`);
    const init = { hostFrom: 'operator', method: 'POST', headers: {}, body: '{}' } as const;
    const { signal } = new AbortController();
    for (const sending of [
      safeFetch.request(url, { ...init, signal, insecureTls: false }),
      safeFetch(url, init),
    ]) {
      const error = await refusal(sending);
      expect(error).toMatchObject({ kind: 'unavailable', details: { reason: 'broken', sent: true } });
    }
    expect(requests).toBe(2);
  });
});

describe('bodies and responses', () => {
  it('are standard ones of every kind', async () => {
    const { port, seen } = await serve((request, response) => {
      response.statusCode = request.url === '/empty' ? 204 : 200;
      response
        .setHeader('set-cookie', ['a=1', 'b=2'])
        .end(request.url === '/empty' ? undefined : '{"ok":true}');
    });
    const url = `http://127.0.0.1:${port}`;
    const form = new FormData();
    form.set('name', 'value');
    form.set('file', new Blob(['bytes']), 'a.txt');
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('streamed'));
        controller.close();
      },
    });
    const safeFetch = make();
    const post = (body: RequestInit['body']) =>
      safeFetch(url, { hostFrom: 'operator', method: 'POST', body: body! });
    const answer = await post('text');
    expect(answer).toBeInstanceOf(Response);
    expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await answer.json()).toEqual({ ok: true });
    await post(form);
    await post(stream);
    await post(new TextEncoder().encode('bytes'));
    const empty = await safeFetch(`${url}/empty`, { hostFrom: 'operator' });
    expect([empty.status, empty.body]).toEqual([204, null]);
    const head = await safeFetch(url, { hostFrom: 'operator', method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(seen[1]!.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(seen[1]!.body).toContain('name="file"; filename="a.txt"');
    expect(seen.slice(2, 4).map(request => request.body)).toEqual(['streamed', 'bytes']);
  });

  it('do not go through the proxies of the environment (attack 34)', async () => {
    const proxy = await serve(hello);
    const target = await serve((_request, response) => response.end('straight'));
    const script = `
      import { createSafeFetch } from ${JSON.stringify(new URL('./safe-fetch.ts', import.meta.url).href)};
      const safeFetch = createSafeFetch({ allowPrivate: () => true });
      const response = await safeFetch('http://127.0.0.1:${target.port}/', { hostFrom: 'operator' });
      process.stdout.write(await response.text());
      const { body } = await safeFetch.request(new URL('http://127.0.0.1:${target.port}/'), {
        ...{ hostFrom: 'operator', method: 'GET', headers: {}, insecureTls: false },
        signal: new AbortController().signal,
      });
      process.stdout.write(' and ' + Buffer.concat(await body.toArray()));
      await safeFetch.close();
    `;
    const proxyUrl = `http://127.0.0.1:${proxy.port}`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      env: {
        ...process.env,
        NODE_USE_ENV_PROXY: '1',
        HTTP_PROXY: proxyUrl,
        http_proxy: proxyUrl,
        HTTPS_PROXY: proxyUrl,
        ALL_PROXY: proxyUrl,
        NO_PROXY: '',
        no_proxy: '',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', chunk => {
      output += chunk;
    });
    await once(child, 'close');
    expect(output).toBe('straight and straight');
    expect(proxy.seen).toEqual([]);
  });
});

describe('check', () => {
  it('gives the error of a request that would not be let through, and connects to nothing', async () => {
    const { port, seen } = await serve(hello);
    const byName: Record<string, string[]> = {
      'a.example': ['1.1.1.1'],
      'b.example': ['1.1.1.1', '10.0.0.5'],
    };
    const safeFetch = make({
      allowPrivate: host => host === 'b.example',
      resolve: async name => byName[name] ?? [],
    });
    const check = (url: string, hostFrom: 'operator' | 'outside' = 'operator') =>
      safeFetch.check(url, { hostFrom });
    await check('https://a.example/mcp');
    await check('https://b.example/mcp');
    const messages = await Promise.all(
      [
        check(`http://127.0.0.1:${port}/`),
        check('https://b.example/mcp', 'outside'),
        check('https://c.example/mcp?key=1'),
        check('ftp://a.example'),
      ].map(async checked => (await refusal(checked)).message),
    );
    expect(messages).toEqual([
      `http://127.0.0.1:${port}/ can't be reached: 127.0.0.1 is a private address`,
      "https://b.example/mcp can't be reached: b.example has no public address",
      "https://c.example/mcp can't be reached: c.example has no address",
      "ftp: can't be reached: only http and https addresses are fetched",
    ]);
    expect(seen).toEqual([]);
  });
});

describe('a certificate nobody vouches for', () => {
  it('is taken by one exchange that asks for it, whose connection is lent to nobody who did not', async () => {
    const { port, seen } = await serve(hello, true);
    const safeFetch = make({ resolve: async () => ['127.0.0.1'] });
    const ask = (insecureTls: boolean) =>
      safeFetch.request(new URL(`https://pinned.test:${port}/`), {
        ...{ hostFrom: 'operator', method: 'POST', headers: {}, body: 'call', insecureTls },
        signal: new AbortController().signal,
      });
    const certain = { kind: 'unavailable', details: { reason: 'connect', sent: false } };
    expect(await refusal(ask(false))).toMatchObject(certain);
    await (await ask(true)).body.dump();
    expect(await refusal(ask(false))).toMatchObject(certain);
    expect(seen).toHaveLength(1);
  });
});

describe('with the SDK', () => {
  it('is the fetch of an MCP client, which sees a refusal as it is', async () => {
    const { port, seen } = await serve((request, response) => {
      const message = JSON.parse(seen.at(-1)!.body || '{}');
      if (request.method !== 'POST' || message.id === undefined) {
        response.writeHead(request.method === 'POST' ? 202 : 405).end();
        return;
      }
      const result =
        message.method === 'initialize'
          ? {
              protocolVersion: '2025-11-25',
              capabilities: { tools: {} },
              serverInfo: { name: 's', version: '1' },
            }
          : { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
      response.setHeader('content-type', 'text/event-stream');
      response.end(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: message.id, result })}\n\n`);
    });
    const safeFetch = make();
    const connect = async (hostFrom: 'operator' | 'outside') => {
      const client = new Client({ name: 'test', version: '1' });
      const fetch = safeFetch.with({ hostFrom, limits: { totalMs: Number.POSITIVE_INFINITY } });
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), { fetch }),
      );
      return client;
    };
    const client = await connect('operator');
    expect((await client.listTools()).tools.map(tool => tool.name)).toEqual(['echo']);
    await client.close();
    await expect(connect('outside')).rejects.toMatchObject({
      message: expect.stringContaining('is a private address'),
    });
  });
});
