import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Forwarder, startForwarder } from './forwarder.ts';

describe('the forwarder in front of a judge', () => {
  let upstream: Server;
  let forwarder: Forwarder;
  let seen: { raw: string[]; body: string; method?: string | undefined; url?: string | undefined };
  let answer: (incoming: IncomingMessage, response: import('node:http').ServerResponse) => void;

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
    forwarder = await startForwarder({ target: `http://127.0.0.1:${port}`, authorization: 'Bearer secret' });
  });

  afterEach(async () => {
    await forwarder.close();
    upstream.closeAllConnections();
    upstream.close();
  });

  function send(method: string, path: string, headers: string[], body?: string) {
    const outgoing = request(`${forwarder.url}${path}`, { method, headers, setHost: false });
    outgoing.end(body);
    return once(outgoing, 'response').then(([response]) => response as IncomingMessage);
  }

  it('adds the credential and leaves Host, Origin, order, case and repeated headers alone', async () => {
    const headers = ['hOsT', 'evil.example', 'Origin', 'http://evil.example', 'X-Two', 'a', 'X-Two', 'b'];
    const withOwn = [...headers, 'authorization', 'Bearer mine', 'Content-Length', '5'];
    const response = await send('POST', '/demo/mcp?x=%2F', withOwn, 'hello');
    response.resume();
    expect(seen).toMatchObject({ method: 'POST', url: '/demo/mcp?x=%2F', body: 'hello' });
    expect(seen.raw.slice(0, headers.length)).toEqual(headers);
    const credentials = seen.raw.filter((_, i) => seen.raw[i - 1]?.toLowerCase() === 'authorization');
    expect(credentials).toEqual(['Bearer secret']);
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

  it('opens a silent stream at once, passes each event as it comes, and tells upstream when the judge leaves', async () => {
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
});
