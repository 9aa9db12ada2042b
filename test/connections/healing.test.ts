import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { call, connectTo, heard, newMark } from './fault-rig.ts';
import type { FaultServer } from './servers/fault-server.ts';
import { ERAS, faultServers } from './servers/fault-servers.ts';
import { startEverything } from './servers/npm-server.ts';

/** How servers refuse a session they do not know: as they should, and as many do. */
const REFUSALS = [
  { status: 404, code: -32001 },
  { status: 400, code: -32000 },
];

const { start } = faultServers();

const asked = ({ received }: FaultServer, method: string) =>
  received.filter(request => request.method === method).length;

describe('A call is answered, and made once,', () => {
  it.each(ERAS)('by a server of the %s era that was restarted since the last one (A-67)', async era => {
    const server = await start(era);
    await using rig = connectTo(server);
    for (const refusal of REFUSALS) {
      server.refusal = refusal;
      await rig.call();
      await server.kill();
      await server.start();
      const mark = newMark();
      expect(await rig.call('none', { mark })).toEqual({ text: mark });
      expect(server.executions(mark)).toBe(1);
    }
  });

  it.each(ERAS)('by a server of the %s era that is just restarting (A-67)', async era => {
    const server = await start(era);
    await using rig = connectTo(server);
    await rig.connection.ready();
    await server.kill();
    const mark = newMark();
    const calling = rig.call('none', { mark });
    const isDown = new Promise<void>(resolve => {
      rig.connection.subscribe(() => rig.connection.trouble && resolve());
    });
    await isDown;
    await server.start();
    expect(await calling).toEqual({ text: mark });
    expect(server.executions(mark)).toBe(1);
  });

  it.each(REFUSALS)(
    'after the server forgot its sessions and refuses with $status: a hundred calls share one new session (A-67)',
    async refusal => {
      const server = await start('legacy');
      await using rig = connectTo(server);
      await rig.connection.ready();
      server.refusal = refusal;
      server.forgetSessions();
      const marks = Array.from({ length: 100 }, newMark);
      const answers = await Promise.all(marks.map(mark => rig.call('none', { mark })));
      expect(answers).toEqual(marks.map(text => ({ text })));
      expect(marks.map(server.executions)).toEqual(marks.map(() => 1));
      expect(asked(server, 'initialize')).toBe(2);
    },
  );

  it.each([
    ['legacy', 'modern'],
    ['modern', 'legacy'],
  ] as const)('by a server of the %s era that is one of the %s era by now (A-10)', async (before, after) => {
    for (const refusal of REFUSALS) {
      const server = await start(before);
      await using rig = connectTo(server);
      await rig.call();
      server.era = after;
      server.refusal = refusal;
      server.forgetSessions();
      const mark = newMark();
      expect(await rig.call('none', { mark })).toEqual({ text: mark });
      expect(server.executions(mark)).toBe(1);
      expect(rig.connection.facts?.era).toBe(after);
      server.era = before;
      expect(await rig.call('none', { mark: newMark() })).toHaveProperty('text');
      expect(rig.connection.facts?.era).toBe(before);
    }
  });

  it.each([
    ['legacy', 'modern'],
    ['modern', 'legacy'],
  ] as const)(
    'by a server of the %s era that came back from a restart as one of the %s era (A-10)',
    async (before, after) => {
      const server = await start(before);
      await using rig = connectTo(server);
      await rig.call();
      await server.kill();
      server.era = after;
      await server.start();
      const mark = newMark();
      expect(await rig.call('none', { mark })).toEqual({ text: mark });
      expect(server.executions(mark)).toBe(1);
      expect(rig.connection.facts?.era).toBe(after);
    },
  );
});

describe('A server from npm', () => {
  it.each(['streamableHttp', 'sse'] as const)(
    'that is restarted costs no call, over %s (A-67)',
    async transport => {
      const first = await startEverything(transport);
      await using rig = connectTo(first, { connectTimeoutMs: 20_000 });
      const echo = (message: string) =>
        heard(
          rig.connection.request({
            method: 'tools/call',
            params: { name: 'echo', arguments: { message } },
            timeoutMs: 20_000,
          }),
        );
      expect(await echo('one')).toEqual({ text: 'Echo: one' });
      await first[Symbol.asyncDispose]();
      await using _second = await startEverything(transport, first.port);
      expect(await echo('two')).toEqual({ text: 'Echo: two' });
    },
  );
});

describe('The era of a server', () => {
  it.each([400, 404, 405, 406, 422, 500])(
    'is found out also where it answers %i to what comes before its handshake (A-07)',
    async status => {
      const server = await start('legacy');
      server.instead = ({ method }, response) =>
        method === 'server/discover' && response.writeHead(status).end('what?');
      await using rig = connectTo(server);
      expect(await rig.call()).toHaveProperty('text');
      expect(rig.connection.facts?.era).toBe('legacy');
    },
  );

  it.each([502, 503, 504, 401, 403])(
    'is not guessed where it answers %i: such an answer says nothing of it',
    async status => {
      const server = await start('legacy');
      server.instead = ({ method }, response) =>
        method === 'server/discover' && response.writeHead(status).end('later');
      await using rig = connectTo(server);
      await expect(rig.connection.ready()).rejects.toThrow(`${status}`);
      expect(asked(server, 'initialize')).toBe(0);
    },
  );

  it('is remembered: a new connection to one of an older era asks for nothing newer (A-10)', async () => {
    const server = await start('legacy');
    await using rig = connectTo(server);
    await rig.connection.ready();
    expect(asked(server, 'server/discover')).toBe(1);
    server.forgetSessions();
    await rig.call();
    expect(asked(server, 'initialize')).toBe(2);
    expect(asked(server, 'server/discover')).toBe(1);
  });
});

describe('A call that never was executed', () => {
  it('because the server forgets every session fails after one repeat, and says so', async () => {
    const server = await start('legacy');
    await using rig = connectTo(server);
    await rig.connection.ready();
    server.instead = ({ method }, response) =>
      method === 'tools/call' && response.writeHead(404).end('no such session');
    expect(await rig.call()).toMatchObject({ kind: 'SERVER_UNAVAILABLE', reached: 'no' });
    expect(asked(server, 'tools/call')).toBe(2);
  });

  it('because the server does not take it, while it knows the session, is not repeated and costs no new session', async () => {
    const server = await start('legacy');
    await using rig = connectTo(server);
    expect(await rig.call('status 400 with an error')).toMatchObject({
      kind: 'PROTOCOL_ERROR',
      reached: 'yes',
      message: 'error -32000',
    });
    expect(asked(server, 'tools/call')).toBe(1);
    expect(asked(server, 'initialize')).toBe(1);
  });

  it('because the server stays down fails at last, as not sent (A-82)', async () => {
    const server = await start('modern');
    await using rig = connectTo(server);
    await rig.connection.ready();
    await server.kill();
    const mark = newMark();
    expect(await rig.call('none', { mark, timeoutMs: 500 })).toMatchObject({
      kind: 'SERVER_UNAVAILABLE',
      reached: 'no',
    });
    expect(server.executions(mark)).toBe(0);
  });

  it('because the server does not finish to connect waits no longer than its own time (A-82)', async () => {
    const server = await start('modern');
    server.instead = ({ method }) => method === 'server/discover';
    await using rig = connectTo(server, { connectTimeoutMs: 60_000 });
    expect(await rig.call('none', { timeoutMs: 200 })).toEqual({
      kind: 'SERVER_UNAVAILABLE',
      reached: 'no',
      message: 'it did not connect within 200 ms',
    });
  });
});

describe('A call under way', () => {
  it.each(ERAS)(
    'when its server of the %s era is killed may have run: it fails, and is not made again (A-67, A-82)',
    async era => {
      const server = await start(era);
      await using rig = connectTo(server);
      const mark = newMark();
      const calling = rig.call('silent', { mark });
      await server.receives(({ method }) => method === 'tools/call');
      await server.kill();
      expect(await calling).toMatchObject({ kind: 'TRANSPORT_ERROR', reached: 'unknown' });
      await server.start();
      const next = newMark();
      expect(await rig.call('none', { mark: next })).toEqual({ text: next });
      expect([mark, next].map(server.executions)).toEqual([1, 1]);
    },
  );

  it('outlives its session also when the stream of announcements finds out that that is gone', async () => {
    const server = await start('legacy');
    await using rig = connectTo(server);
    await rig.connection.ready();
    rig.connection.keep();
    await vi.waitFor(() => expect(server.listeners).toBe(1), 10_000);
    const held = new Promise<readonly [id: unknown, response: ServerResponse]>(resolve => {
      server.instead = ({ method, id }, response) => {
        if (method !== 'tools/call') return false;
        resolve([id, response]);
        return true;
      };
    });
    const calling = rig.call();
    const [id, response] = await held;
    server.forgetSessions();
    server.endStreams();
    await vi.waitFor(() => expect(asked(server, 'initialize')).toBe(2), 10_000);
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'late' }] } }));
    expect(await calling).toEqual({ text: 'late' });
    expect(asked(server, 'tools/call')).toBe(1);
  });

  it.each(ERAS)('outlives the session of the %s era that another call lost', async era => {
    const server = await start(era);
    await using rig = connectTo(server);
    const mark = newMark();
    const slow = rig.call('silent', { mark, timeoutMs: 1_000 });
    await server.receives(({ method }) => method === 'tools/call');
    server.forgetSessions();
    expect(await rig.call()).toHaveProperty('text');
    expect(await slow).toMatchObject({ kind: 'TIMEOUT', reached: 'unknown' });
    expect(server.executions(mark)).toBe(1);
  });

  it.each(ERAS)(
    'and one that waits are interrupted when the connection is closed, and the session of the %s era is ended (A-82)',
    async era => {
      const server = await start(era);
      await using rig = connectTo(server);
      const calling = rig.call('silent');
      await server.receives(({ method }) => method === 'tools/call');
      const waiting = rig.call('silent');
      await rig.connection.close();
      for (const heard of [await calling, await waiting])
        expect(heard).toMatchObject({ kind: 'INTERRUPTED', reached: 'unknown' });
      expect(await rig.call()).toMatchObject({ kind: 'INTERRUPTED' });
      expect(server.received.filter(({ verb }) => verb === 'DELETE')).toHaveLength(era === 'legacy' ? 1 : 0);
      await vi.waitFor(() => expect(server.listeners).toBe(0), 10_000);
    },
  );
});

describe('A connection that does not come about', () => {
  it.each(ERAS)(
    'to a server of the %s era: whatever that answers, the call was not sent (A-78, A-82)',
    async era => {
      const server = await start(era);
      const first = era === 'legacy' ? 'initialize' : 'server/discover';
      const answers: readonly FaultServer['instead'][] = [
        (_, response) => response.writeHead(503).end(),
        (_, response) => response.socket!.resetAndDestroy(),
        (_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': no\n\n'),
        ({ id }, response) =>
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ jsonrpc: '2.0', id, result: null })),
        ({ method }, response) => method === first || response.writeHead(400).end(),
      ];
      for (const answer of answers) {
        server.instead = answer;
        await using rig = connectTo(server, { connectTimeoutMs: 300 });
        const mark = newMark();
        const heard = await rig.call('none', { mark, timeoutMs: 600 });
        expect(heard).toMatchObject({ kind: 'SERVER_UNAVAILABLE', reached: 'no' });
        expect(server.executions(mark)).toBe(0);
      }
      expect(asked(server, 'tools/call')).toBe(0);
    },
  );

  it.each([401, 403])(
    'because of a refused credential (%i) says so, also while it is not tried again (A-82)',
    async status => {
      const server = await start('modern');
      server.instead = (_, response) => response.writeHead(status).end();
      await using rig = connectTo(server);
      for (let n = 0; n < 2; n++)
        expect(await rig.call()).toMatchObject({ kind: 'AUTHENTICATION_FAILED', reached: 'no' });
      expect(server.received).toHaveLength(1);
    },
  );

  it('because there is no revision in common says so, also while it is not tried again (A-82)', async () => {
    const server = await start('legacy');
    server.instead = ({ method, id }, response) =>
      method === 'initialize' &&
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: '1999-01-01' } }));
    await using rig = connectTo(server);
    for (let n = 0; n < 2; n++)
      expect(await rig.call()).toMatchObject({
        kind: 'PROTOCOL_ERROR',
        reached: 'yes',
        message: 'it speaks version "1999-01-01", which is not known here',
      });
  });

  it('because nothing comes back from the socket ends by its time limit, and everybody who waited hears it', async () => {
    const sockets: Socket[] = [];
    const hole = createServer(socket => void sockets.push(socket.on('error', () => undefined)));
    hole.listen(0, '127.0.0.1');
    await once(hole, 'listening');
    const { port } = hole.address() as AddressInfo;
    await using rig = connectTo({ url: `http://127.0.0.1:${port}/mcp` }, { connectTimeoutMs: 200 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call(rig.connection, 'none', { timeoutMs: 400 })),
    );
    expect(answers).toEqual(
      answers.map(() => ({
        kind: 'SERVER_UNAVAILABLE',
        reached: 'no',
        message: expect.stringMatching(/^it did not connect within \d+ ms$/),
      })),
    );
    for (const socket of sockets) socket.destroy();
    hole.close();
  });

  it('because its check refuses it, or never answers, is a server that is down', async () => {
    const server = await start('modern');
    const refusing = { check: () => Promise.reject(new Error('10.0.0.5 is a private address')) };
    const hanging = { check: () => new Promise<void>(() => undefined) };
    for (const check of [refusing, hanging]) {
      await using rig = connectTo(server, { ...check, connectTimeoutMs: 200 });
      const answer = await heard(
        rig.connection.request({ method: 'tools/call', params: {}, timeoutMs: 300 }),
      );
      expect(answer).toMatchObject({ kind: 'SERVER_UNAVAILABLE', reached: 'no' });
    }
    expect(server.received).toEqual([]);
  });
});
