import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { percentile, readAnswer, runLoad } from '../../bench/load.ts';

describe('the load generator of the bench', () => {
  let server: Server | undefined;

  async function serve(listener: RequestListener): Promise<string> {
    server = createServer(listener).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  }

  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  it('keeps one call in flight on each connection, sends what it was given and counts every answer', async () => {
    const ids = new Map<unknown, number>();
    let inFlight = 0;
    let most = 0;
    let sockets = 0;
    const url = await serve(async (request, response) => {
      most = Math.max(most, ++inFlight);
      let body = '';
      for await (const chunk of request) body += chunk;
      const { id } = JSON.parse(body);
      ids.set(id, (ids.get(id) ?? 0) + 1);
      expect(request.headers['x-key']).toBe('secret');
      inFlight--;
      if (id === 1) response.write('chunked ');
      response.end('done');
    });
    server!.on('connection', () => sockets++);
    const target = {
      url,
      headers: { 'X-Key': 'secret' },
      bodyOf: (id: number) => JSON.stringify({ id }),
      expects: 'done',
    };
    const result = await runLoad(target, 3, 0.1);
    expect([...ids.keys()].sort()).toEqual([0, 1, 2]);
    expect(result.calls).toBe([...ids.values()].reduce((a, b) => a + b));
    expect(result.latencies).toHaveLength(result.calls);
    expect(sockets).toBe(3);
    expect(most).toBeLessThanOrEqual(3);
  });

  it.each([
    ['another status', 500, 'done', 'answered 500 done'],
    ['another text', 200, 'sorry', 'answered 200 sorry'],
  ])('gives up at an answer with %s', async (_case, status, text, message) => {
    const url = await serve((_request, response) => response.writeHead(status).end(text));
    await expect(runLoad({ url, headers: {}, bodyOf: () => '{}', expects: 'done' }, 2, 5)).rejects.toThrow(
      message,
    );
  });

  it.each([
    ['by length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'],
    ['in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n'],
  ])('reads an answer %s only when it is whole', (_case, whole) => {
    for (let length = 0; length < whole.length; length++)
      expect(readAnswer(whole.slice(0, length))).toBeUndefined();
    expect(readAnswer(whole)).toEqual({ status: 200, body: 'hello' });
  });

  it('takes percentiles of ascending values', () => {
    const values = Array.from({ length: 100 }, (_, i) => i);
    expect([percentile(values, 0.5), percentile(values, 0.99), percentile([7], 0.99)]).toEqual([50, 99, 7]);
  });
});
