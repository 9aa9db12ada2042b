import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { connectTo } from './fault-rig.ts';

type Message = { readonly id?: number; readonly method: string };

/** A server of the first revision: everything it says comes on the stream of a GET. */
async function startSse(script: {
  /** What the stream begins with. */
  readonly begin?: (stream: ServerResponse) => unknown;
  readonly call?: (stream: ServerResponse, id: number, post: ServerResponse) => unknown;
}) {
  const state = { streams: 0, calls: 0, open: 0, others: [] as string[] };
  let stream: ServerResponse;
  const say = (value: unknown) => stream.write(`event: message\ndata: ${JSON.stringify(value)}\n\n`);
  const results: Record<string, unknown> = {
    initialize: { protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'old' } },
    'tools/list': { tools: [] },
    'tools/call': { content: [{ type: 'text', text: 'done' }] },
  };
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    response.on('error', () => undefined);
    if (request.method === 'GET') {
      state.streams += 1;
      state.open += 1;
      response.on('close', () => {
        state.open -= 1;
      });
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' });
      stream.flushHeaders();
      if (script.begin) script.begin(stream);
      else stream.write(`event: endpoint\ndata: /post?session=${state.streams}\n\n`);
      return;
    }
    if (request.url === '/sse') return void response.writeHead(405).end();
    state.others.push(request.url!);
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method } = JSON.parse(body) as Message;
    if (method === 'tools/call') state.calls += 1;
    if (method === 'tools/call' && script.call) return void script.call(stream, id!, response);
    response.writeHead(202).end();
    if (id !== undefined) say({ jsonrpc: '2.0', id, result: results[method] });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stop.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse` };
}

const stop: (() => unknown)[] = [];
afterEach(() => {
  for (const end of stop.splice(0)) end();
});

describe('A server that has nothing but HTTP+SSE', () => {
  it('is called, and its stream is ended with the connection', async () => {
    const server = await startSse({});
    await using rig = connectTo(server);
    expect(await rig.call()).toEqual({ text: 'done' });
    expect(rig.connection.facts).toMatchObject({ protocolVersion: '2024-11-05', name: 'old' });
    await rig.pool.close();
    expect(server.state.calls).toBe(1);
  });

  it.each<[string, (stream: ServerResponse, id: number, post: ServerResponse) => unknown, string]>([
    ['ends its stream', stream => stream.end(), 'TRANSPORT_ERROR unknown'],
    ['breaks its stream', stream => stream.socket!.resetAndDestroy(), 'TRANSPORT_ERROR unknown'],
    ['says what is no JSON', stream => stream.write('data: <html>\n\n'), 'TRANSPORT_ERROR unknown'],
    ['says nothing', (_stream, _id, post) => post.writeHead(202).end(), 'TIMEOUT unknown'],
    ['does not take the call', (_stream, _id, post) => post.writeHead(500).end(), 'TRANSPORT_ERROR unknown'],
    ['refuses the credential', (_stream, _id, post) => post.writeHead(401).end(), 'AUTHENTICATION_FAILED no'],
    [
      'does not end an event',
      stream => {
        stream.write('data: ');
        const chunk = 'x'.repeat(1024 * 1024);
        const pour = () => {
          while (!stream.destroyed && stream.write(chunk));
        };
        stream.on('drain', pour);
        pour();
      },
      'TRANSPORT_ERROR unknown',
    ],
  ])(
    'and %s in a call: it may have run, and is not made again (A-67, attack 39)',
    async (_, fault, comesTo) => {
      let broken = true;
      const server = await startSse({
        call(stream, id, post) {
          if (broken) return fault(stream, id, post);
          post.writeHead(202).end();
          const result = { content: [{ type: 'text', text: 'again' }] };
          return stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
        },
      });
      await using rig = connectTo(server);
      await rig.connection.ready();
      const heard = await rig.call('none', { timeoutMs: comesTo.startsWith('TIMEOUT') ? 200 : 20_000 });
      expect('kind' in heard && `${heard.kind} ${heard.reached}`).toBe(comesTo);
      expect(server.state.calls).toBe(1);
      broken = false;
      expect(await rig.call()).toEqual({ text: 'again' });
      expect(server.state.calls).toBe(2);
    },
  );

  it('and forgot the session is greeted again: the call is made once', async () => {
    let known = false;
    const server = await startSse({
      call(stream, id, post) {
        if (!known) {
          known = true;
          return post.writeHead(404).end();
        }
        post.writeHead(202).end();
        const result = { content: [{ type: 'text', text: 'done' }] };
        return stream.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
      },
    });
    await using rig = connectTo(server);
    expect(await rig.call()).toEqual({ text: 'done' });
    expect(server.state.streams).toBe(2);
  });

  it.each<[string, (stream: ServerResponse) => unknown]>([
    ['does not say where to post', stream => stream.write(': hello\n\n')],
    ['ends before it says where to post', stream => stream.end()],
    [
      'wants messages at another origin',
      stream => stream.write('event: endpoint\ndata: http://127.0.0.2:1/post\n\n'),
    ],
    ['wants messages at no address', stream => stream.write('event: endpoint\ndata: http://\n\n')],
  ])('and %s is down, and its stream is let go', async (_, begin) => {
    const server = await startSse({ begin });
    await using rig = connectTo(server, { connectTimeoutMs: 300 });
    expect(await rig.call('none', { timeoutMs: 400 })).toMatchObject({
      kind: 'SERVER_UNAVAILABLE',
      reached: 'no',
    });
    await rig.pool.close();
    expect(server.state.others).toEqual([]);
    await expect.poll(() => server.state.open, { timeout: 10_000 }).toBe(0);
  });
});
