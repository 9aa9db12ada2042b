import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LoopbackProxy, startLoopbackProxy } from './loopback-proxy.ts';

describe('the loopback proxy', () => {
  let upstream: Server;
  let proxy: LoopbackProxy;
  let seen: { raw: string[]; body: string; method?: string | undefined; url?: string | undefined };
  let answer: (incoming: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    answer = (_incoming, response) => response.end('ok');
    upstream = createServer(async (incoming, response) => {
      seen = { raw: incoming.rawHeaders, body: '', method: incoming.method, url: incoming.url };
      if (incoming.method === 'POST') for await (const chunk of incoming) seen.body += chunk;
      answer(incoming, response);
    });
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    proxy = await startLoopbackProxy({ targets: [`http://127.0.0.1:${port}`] });
  });

  afterEach(async () => {
    await proxy.close();
    upstream.closeAllConnections();
    upstream.close();
  });

  function send(method: string, path: string, headers: string[], body?: string) {
    const outgoing = request(`${proxy.url}${path}`, { method, headers, setHost: false });
    outgoing.end(body);
    return once(outgoing, 'response').then(([response]) => response as IncomingMessage);
  }

  it('leaves Host, Origin, Authorization, order, case and repeated headers alone', async () => {
    const headers = ['hOsT', 'evil.example', 'Origin', 'http://evil.example', 'X-Two', 'a', 'X-Two', 'b'];
    const sent = [...headers, 'authorization', 'Bearer mine', 'Content-Length', '5'];
    const response = await send('POST', '/demo/mcp?x=%2F', sent, 'hello');
    response.resume();
    expect(seen).toMatchObject({ method: 'POST', url: '/demo/mcp?x=%2F', body: 'hello' });
    expect(seen.raw.slice(0, sent.length)).toEqual(sent);
  });

  it('passes status, reason and headers of the answer', async () => {
    answer = (_incoming, response) => {
      response.writeHead(421, 'Elsewhere', [
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
        'WWW-Authenticate',
        'Bearer',
      ]);
      response.end();
    };
    const response = await send('POST', '/mcp', ['Host', 'x', 'Content-Length', '0']);
    response.resume();
    expect([response.statusCode, response.statusMessage]).toEqual([421, 'Elsewhere']);
    expect(response.headers['set-cookie']).toEqual(['a=1', 'b=2']);
  });

  it('opens a silent stream at once, passes each event as it comes, and tells upstream when the client leaves', async () => {
    let write: (text: string) => void = () => {};
    const left = new Promise<void>(resolve => {
      answer = (_incoming, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.flushHeaders();
        response.on('close', resolve);
        write = text => response.write(text);
      };
    });
    const response = await send('GET', '/mcp', ['Host', 'x']);
    response.setEncoding('utf8');
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      write(event);
      expect(await once(response, 'data')).toEqual([event]);
    }
    response.destroy();
    await left;
  });

  it('sends each request to the next origin, also over one kept connection', async () => {
    const origins = await Promise.all(
      ['a', 'b'].map(async name => {
        const origin = createServer((_incoming, response) => response.end(name)).listen(0, '127.0.0.1');
        await once(origin, 'listening');
        return origin;
      }),
    );
    const targets = origins.map(origin => `http://127.0.0.1:${(origin.address() as AddressInfo).port}`);
    const spreading = await startLoopbackProxy({ targets });
    try {
      const answers: string[] = [];
      for (let count = 0; count < 4; count += 1) answers.push(await (await fetch(spreading.url)).text());
      expect(answers).toEqual(['a', 'b', 'a', 'b']);
    } finally {
      await spreading.close();
      for (const origin of origins) origin.close();
    }
  });
});
