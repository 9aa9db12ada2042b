import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import type { Progress } from '../../packages/server/src/connections/session/wire.ts';
import { call, connectTo, newMark } from './fault-rig.ts';
import type { FaultServer, Received } from './servers/fault-server.ts';
import { ERAS, faultServers } from './servers/fault-servers.ts';
import { httpEndpoint } from './test-pool.ts';

const { start } = faultServers();

/** The next call the server gets, which is the test's to answer. */
function nextCall(
  server: FaultServer,
): Promise<{ readonly request: Received; readonly response: ServerResponse }> {
  return new Promise(resolve => {
    server.instead = (request, response) => {
      if (request.method !== 'tools/call') return false;
      server.instead = () => false;
      resolve({ request, response });
      return true;
    };
  });
}

const isCancelled = ({ method }: Received) => method === 'notifications/cancelled';
const answer = (id: unknown, text: string) => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text }] },
});

describe('A call that is given up', () => {
  it('is cancelled with our own id, in the older eras, and its late answer is dropped', async () => {
    const server = await start('legacy');
    await using rig = connectTo(server);
    await rig.connection.ready();
    await vi.waitFor(() => expect(server.listeners).toBe(1), 10_000);
    const coming = nextCall(server);
    const controller = new AbortController();
    const calling = rig.call('none', { signal: controller.signal });
    const { request } = await coming;
    const why = new Error('the person left');
    controller.abort(why);
    await expect(calling).rejects.toBe(why);
    const cancelled = await server.receives(isCancelled);
    expect(cancelled.params.requestId).toBe(request.id);
    expect(cancelled.headers['mcp-session-id']).toBe(request.headers['mcp-session-id']);
    server.say(answer(request.id, 'late'));
    server.say(answer((request.id as number) + 1, 'for another'));
    const mark = newMark();
    expect(await rig.call('none', { mark })).toEqual({ text: mark });
  });

  it('is cancelled by the end of its stream, in the stateless era, and by nothing else', async () => {
    const server = await start('modern');
    await using rig = connectTo(server);
    await rig.connection.ready();
    const coming = nextCall(server);
    const controller = new AbortController();
    const calling = rig.call('none', { signal: controller.signal });
    const { response } = await coming;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': working\n\n');
    const ended = once(response, 'close');
    controller.abort(new Error('enough'));
    await expect(calling).rejects.toThrow('enough');
    await ended;
    expect(await rig.call()).toHaveProperty('text');
    expect(server.received.filter(isCancelled)).toEqual([]);
  });

  it('because its time is up is cancelled, too', async () => {
    const server = await start('legacy');
    await using rig = connectTo(server);
    await rig.connection.ready();
    expect(await rig.call('silent', { timeoutMs: 100 })).toMatchObject({ kind: 'TIMEOUT' });
    const { params } = await server.receives(isCancelled);
    expect(params.requestId).toBe(server.received.find(({ method }) => method === 'tools/call')!.id);
  });

  it.each(ERAS)('before it was sent is not, to a server of the %s era', async era => {
    const server = await start(era);
    await using rig = connectTo(server);
    const waits = new Promise<void>(resolve => {
      server.instead = ({ method }) => {
        if (method !== 'server/discover') return false;
        resolve();
        return true;
      };
    });
    const why = new Error('enough');
    const controller = new AbortController();
    const mark = newMark();
    const calling = rig.call('none', { mark, signal: controller.signal });
    await waits;
    controller.abort(why);
    await expect(calling).rejects.toBe(why);
    await expect(rig.call('none', { mark, signal: controller.signal })).rejects.toBe(why);
    expect(server.executions(mark)).toBe(0);
  });

  it.each(ERAS)('costs the others on the connection to a server of the %s era nothing', async era => {
    const server = await start(era);
    await using rig = connectTo(server);
    await rig.connection.ready();
    const controller = new AbortController();
    const given = Promise.allSettled(
      Array.from({ length: 20 }, () => rig.call('silent', { signal: controller.signal })),
    );
    const marks = Array.from({ length: 20 }, newMark);
    const answers = marks.map(mark => rig.call('none', { mark }));
    controller.abort(new Error('enough'));
    expect(await Promise.all(answers)).toEqual(marks.map(text => ({ text })));
    for (const one of await given)
      expect(one).toMatchObject({ status: 'rejected', reason: { message: 'enough' } });
    expect(rig.connection.inFlight).toBe(0);
    expect(rig.connection.trouble).toBeUndefined();
  });
});

describe('The ids of requests', () => {
  it.each(ERAS)(
    'are ours: no two of a session with a server of the %s era are the same, and calls at once hear their own answers (attack 40)',
    async era => {
      const server = await start(era);
      await using rig = connectTo(server);
      const other = rig.pool.connection({
        endpoint: httpEndpoint(server.url),
        scope: 'another',
        connectTimeoutMs: 5_000,
      });
      const marks = Array.from({ length: 200 }, newMark);
      const answers = await Promise.all(
        marks.map((mark, n) => call(n % 2 === 0 ? rig.connection : other, 'streamed', { mark })),
      );
      expect(answers).toEqual(marks.map(text => ({ text })));
      const ids = server.received.filter(({ method }) => method === 'tools/call').map(({ id }) => id);
      expect(ids.every(id => typeof id === 'number')).toBe(true);
      expect(new Set(ids).size).toBe(100);
    },
  );

  it.each(ERAS)(
    'cannot be answered before they are asked, nor by what answers another (attack 40)',
    async era => {
      const server = await start(era);
      await using rig = connectTo(server);
      await rig.connection.ready();
      const coming = nextCall(server);
      const [first, second] = [newMark(), newMark()];
      const waiting = rig.call('none', { mark: first });
      const { request, response } = await coming;
      const guessing = rig.call('the next answer before its request', { mark: second });
      expect(await guessing).toEqual({ text: second });
      const third = newMark();
      expect(await rig.call('none', { mark: third })).toEqual({ text: third });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(answer((request.id as number) + 3, 'stolen'))}\n\n`);
      response.end(`data: ${JSON.stringify(answer(request.id, first))}\n\n`);
      expect(await waiting).toEqual({ text: first });
    },
  );
});

describe('Progress', () => {
  it.each(ERAS)(
    'of a server of the %s era is told while the call runs, to whom it is about, and does not extend its time (A-175)',
    async era => {
      const server = await start(era);
      await using rig = connectTo(server);
      const coming = nextCall(server);
      const heard: Progress[] = [];
      const calling = rig.call('none', { timeoutMs: 300, onProgress: progress => heard.push(progress) });
      const { request, response } = await coming;
      const { progressToken } = request.params._meta as { progressToken: unknown };
      expect(progressToken).toBe(request.id);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const say = (params: object) =>
        response.write(
          `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`,
        );
      say({ progressToken: `${progressToken}`, progress: 9 });
      say({ progressToken: 999, progress: 9 });
      say({ progressToken, progress: 'much' });
      say({ progressToken });
      const ticking = setInterval(() => say({ progressToken, progress: 1, total: 2, message: 'half' }), 20);
      expect(await calling).toMatchObject({ kind: 'TIMEOUT', reached: 'unknown' });
      clearInterval(ticking);
      expect(heard.length).toBeGreaterThan(0);
      expect(new Set(heard.map(one => JSON.stringify(one)))).toEqual(
        new Set([JSON.stringify({ progress: 1, total: 2, message: 'half' })]),
      );
    },
  );
});

describe('A server that asks', () => {
  const ask = (id: unknown, method: string) => ({ jsonrpc: '2.0', id, method, params: {} });

  it('in the older eras is answered: a ping with nothing, everything else with no', async () => {
    const server = await start('legacy');
    await using rig = connectTo(server);
    await rig.connection.ready();
    await vi.waitFor(() => expect(server.listeners).toBe(1), 10_000);
    server.say(ask('a', 'ping'));
    server.say(ask(7, 'sampling/createMessage'));
    const answers = await Promise.all(
      ['a', 7].map(id => server.receives(one => one.method === undefined && one.id === id)),
    );
    expect(answers.map(({ result, error }) => ({ result, error }))).toEqual([
      { result: {}, error: undefined },
      { result: undefined, error: { code: -32601, message: 'this client has no such method' } },
    ]);
  });

  it('without end is answered a hundred times at a time, and the rest is dropped (attack 39)', async () => {
    const server = await start('legacy');
    await using rig = connectTo(server);
    await rig.connection.ready();
    await vi.waitFor(() => expect(server.listeners).toBe(1), 10_000);
    const isAnswer = ({ verb, method }: Received) => verb === 'POST' && method === undefined;
    server.instead = request => isAnswer(request);
    for (let id = 0; id < 10_000; id++) server.say(ask(id, 'ping'));
    server.announce();
    await server.receives(({ method }) => method === 'tools/list');
    expect(await rig.call()).toHaveProperty('text');
    await vi.waitFor(() => expect(server.received.filter(isAnswer)).toHaveLength(100), 10_000);
  });

  it('in the stateless era is not, for there it has nothing to ask', async () => {
    const server = await start('modern');
    await using rig = connectTo(server);
    await rig.connection.ready();
    await vi.waitFor(() => expect(server.listeners).toBe(1), 10_000);
    server.say(ask('a', 'ping'));
    server.announce();
    await server.receives(({ method }) => method === 'tools/list');
    expect(await rig.call()).toHaveProperty('text');
    expect(server.received.filter(({ method, verb }) => verb === 'POST' && method === undefined)).toEqual([]);
  });
});
