import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createManualClock } from '../manual-clock.ts';
import { connectTo, newMark } from './fault-rig.ts';
import { type FaultServer, type Received, startFaultServer } from './servers/fault-server.ts';

// In the older eras a server may end the stream of a request behind an event with an id, and be asked to go on with it.

let server: FaultServer;
beforeEach(async () => {
  server = await startFaultServer('legacy');
  server.hasStream = false;
});
afterEach(() => server[Symbol.asyncDispose]());

const stream = (response: ServerResponse, text: string) =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
const event = (id: string, value?: object) =>
  `id: ${id}\ndata: ${value ? JSON.stringify({ jsonrpc: '2.0', ...value }) : ''}\n\n`;
const isResume = ({ verb, headers }: Received) => verb === 'GET' && headers['last-event-id'] !== undefined;
const lastId = ({ headers }: Received) => headers['last-event-id'];

/** Answers calls with one stream and what comes back for more with others. */
function script(
  begin: string,
  goOn: (request: Received, response: ServerResponse, times: number) => unknown,
) {
  let times = 0;
  let callId: unknown;
  server.instead = (request, response) => {
    if (request.method === 'tools/call') {
      callId = request.id;
      return stream(response, begin);
    }
    if (!isResume(request)) return false;
    goOn({ ...request, id: callId }, response, ++times);
    return true;
  };
}

const answer = (id: unknown, text: string) => ({ id, result: { content: [{ type: 'text', text }] } });
const calls = () => server.received.filter(({ method }) => method === 'tools/call').length;
const resumes = () => server.received.filter(isResume).map(lastId);

describe('A stream that ends behind an event with an id', () => {
  it('is gone on with as often as it takes, each time behind what came last, and the call is made once', async () => {
    const mark = newMark();
    const heard: number[] = [];
    const progress = (n: number) => ({
      method: 'notifications/progress',
      params: { progressToken: token, progress: n },
    });
    let token: unknown;
    script('retry: 1\nid: 0\ndata:\n\n', ({ id }, response, times) => {
      token = id;
      stream(response, event(`${times}`, times < 12 ? progress(times) : answer(id, mark)));
    });
    await using rig = connectTo(server);
    expect(await rig.call('none', { mark, onProgress: ({ progress }) => heard.push(progress) })).toEqual({
      text: mark,
    });
    expect(resumes()).toEqual(Array.from({ length: 12 }, (_, n) => `${n}`));
    expect(heard).toEqual(Array.from({ length: 11 }, (_, n) => n + 1));
    expect(calls()).toBe(1);
  });

  it('is gone on with as whoever made the call, and asked for as nobody otherwise (E-91, E-93)', async () => {
    const mark = newMark();
    script('retry: 1\nid: 0\ndata:\n\n', ({ id }, response) =>
      stream(response, event('1', answer(id, mark))),
    );
    await using rig = connectTo(server);
    expect(await rig.call('none', { mark, headers: { authorization: 'Bearer ann' } })).toEqual({
      text: mark,
    });
    const shown = server.received.map(({ method, verb, headers }) => [method ?? verb, headers.authorization]);
    expect(shown.filter(([, authorization]) => authorization !== undefined)).toEqual([
      ['tools/call', 'Bearer ann'],
      ['GET', 'Bearer ann'],
    ]);
  });

  it('is gone on with after the time the server asks for, and not before', async () => {
    const mark = newMark();
    script('retry: 5000\nid: a\ndata:\n\n', ({ id }, response) =>
      stream(response, event('b', answer(id, mark))),
    );
    const clock = createManualClock();
    await using rig = connectTo(server, { clock });
    await rig.connection.ready();
    const sleeping = clock.waiting;
    const calling = rig.call('none', { mark });
    await server.receives(({ method }) => method === 'tools/call');
    // The time limit of the call, and the pause.
    await expect.poll(() => clock.waiting, { timeout: 10_000 }).toBe(sleeping + 2);
    await clock.advance(4_999);
    expect(resumes()).toEqual([]);
    await clock.advance(1);
    expect(await calling).toEqual({ text: mark });
  });

  it('is asked for ten times a second at most, whatever the server asks for', async () => {
    script('retry: 0\nid: a\ndata:\n\n', (_, response, times) => stream(response, event(`${times}`)));
    await using rig = connectTo(server);
    expect(await rig.call('none', { timeoutMs: 450 })).toMatchObject({ kind: 'TIMEOUT', reached: 'unknown' });
    expect(resumes().length).toBeLessThanOrEqual(4);
    expect(calls()).toBe(1);
  });

  it.each([400, 404, 405])(
    'and is refused with %i is lost: the call may have run, and is not made again (A-67)',
    async status => {
      script('retry: 1\nid: a\ndata:\n\n', (_, response) => response.writeHead(status).end());
      await using rig = connectTo(server);
      expect(await rig.call()).toMatchObject({ kind: 'TRANSPORT_ERROR', reached: 'unknown' });
      expect(resumes()).toEqual(['a']);
      expect(calls()).toBe(1);
      server.instead = () => false;
      const mark = newMark();
      expect(await rig.call('none', { mark })).toEqual({ text: mark });
    },
  );

  it('and says nothing more is asked for five times', async () => {
    script('retry: 1\nid: a\ndata:\n\n', (_, response, times) =>
      times % 2 === 0 ? response.writeHead(503).end() : stream(response, ': nothing\n\n'),
    );
    await using rig = connectTo(server);
    expect(await rig.call()).toMatchObject({ kind: 'TRANSPORT_ERROR', reached: 'unknown' });
    expect(resumes()).toEqual(Array.from({ length: 5 }, () => 'a'));
    expect(calls()).toBe(1);
  });

  it('of a server that is restarted meanwhile is lost, and the next call is on a new session', async () => {
    const resumed = new Promise<void>(resolve => {
      script('retry: 1\nid: a\ndata:\n\n', (_, response) => {
        resolve();
        response.socket!.destroy();
      });
    });
    await using rig = connectTo(server);
    const calling = rig.call();
    await resumed;
    await server.kill();
    server.instead = () => false;
    await server.start();
    expect(await calling).toMatchObject({ kind: 'TRANSPORT_ERROR', reached: 'unknown' });
    const mark = newMark();
    expect(await rig.call('none', { mark })).toEqual({ text: mark });
    expect(server.executions(mark)).toBe(1);
  });

  it('and answers on and on what was not asked is heard to its own answer', async () => {
    const mark = newMark();
    script('retry: 1\nid: a\ndata:\n\n', ({ id }, response, times) =>
      stream(
        response,
        times < 3 ? event(`${times}`, answer(`${id}`, 'stolen')) : event('z', answer(id, mark)),
      ),
    );
    await using rig = connectTo(server);
    expect(await rig.call('none', { mark })).toEqual({ text: mark });
  });
});
