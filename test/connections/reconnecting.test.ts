import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { Connection } from '../../packages/server/src/connections/session/connection.ts';
import type { ConnectRequest } from '../../packages/server/src/connections/session/pool.ts';
import type { Logger } from '../../packages/server/src/kernel/logger.ts';
import { createManualClock } from '../manual-clock.ts';
import { call, connectTo, newMark } from './fault-rig.ts';
import type { FaultName } from './servers/fault-server.ts';
import { ERAS, faultServers } from './servers/fault-servers.ts';
import { httpEndpoint, testPool } from './test-pool.ts';

const personal = (who: string): ConnectRequest['owner'] => ({ server: 'test', who });

const { start } = faultServers();

/** Resolves when a listener, told of a change, finds this. */
function becomes(connection: Connection, holds: () => boolean): Promise<void> {
  return new Promise(resolve => {
    const look = () => {
      if (!holds()) return;
      stop();
      resolve();
    };
    const stop = connection.subscribe(look);
    look();
  });
}

const isUp = (connection: Connection) => becomes(connection, () => connection.facts !== undefined);
const isDown = (connection: Connection, failures: number) =>
  becomes(connection, () => connection.trouble?.failures === failures);

describe('A server that is down', () => {
  it('is tried again for ever: after a second, twice as long each time, at most a minute, and from the beginning once it was up (W-12, W-13)', async () => {
    const server = await start();
    await server.kill();
    const clock = createManualClock();
    await using rig = connectTo(server, { clock, random: () => 0 });
    const { connection } = rig;
    connection.keep();
    const pauses: number[] = [];
    for (let failures = 1; failures <= 100; failures++) {
      await isDown(connection, failures);
      const pause = connection.trouble!.retryAt - clock.now();
      pauses.push(pause);
      await clock.advance(pause - 1);
      expect(connection.trouble!.failures).toBe(failures);
      if (failures === 100) await server.start();
      await clock.advance(1);
    }
    expect(pauses.slice(0, 8)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(pauses.slice(6).every(pause => pause === 60_000)).toBe(true);
    await isUp(connection);
    expect(connection.trouble).toBeUndefined();
    await clock.advance(60_001);
    await server.kill();
    await clock.advance(1_000);
    await isDown(connection, 1);
    expect(connection.trouble!.retryAt - clock.now()).toBe(1_000);
  });

  it('is said to be down once for each reason, and to be up again, however often it is tried', async () => {
    const server = await start();
    await server.kill();
    const clock = createManualClock();
    const said: string[] = [];
    const note = (message: string) => void said.push(message);
    const logger: Logger = { debug: note, info: note, warn: note, error: note, child: () => logger };
    await using rig = connectTo(server, { clock, logger });
    const { connection } = rig;
    connection.keep();
    for (let failures = 1; failures <= 10; failures++) {
      await isDown(connection, failures);
      if (failures === 5) {
        server.instead = (_, response) => response.writeHead(503).end();
        await server.start();
      }
      if (failures === 10) server.instead = () => false;
      // The next try waits for its time, then.
      await clock.advance(0);
      await clock.advance(60_000);
    }
    await isUp(connection);
    expect(said).toEqual(['An MCP server is down', 'An MCP server is down', 'An MCP server is up again']);
  });

  it('is tried at other moments than others are: up to a fifth sooner', async () => {
    const server = await start();
    await server.kill();
    const clock = createManualClock();
    await using rig = connectTo(server, { clock, random: () => 1 });
    rig.connection.keep();
    await isDown(rig.connection, 1);
    expect(rig.connection.trouble!.retryAt - clock.now()).toBe(800);
  });

  it('that nobody keeps is tried when it is called, and not before its next try is due', async () => {
    const server = await start();
    await server.kill();
    const clock = createManualClock();
    await using rig = connectTo(server, { clock, random: () => 0 });
    await expect(rig.connection.ready()).rejects.toMatchObject({ kind: 'SERVER_UNAVAILABLE' });
    await server.start();
    await expect(rig.connection.ready()).rejects.toMatchObject({ kind: 'SERVER_UNAVAILABLE' });
    expect(server.received).toEqual([]);
    await clock.advance(1_000);
    await rig.connection.ready();
    expect(rig.connection.trouble).toBeUndefined();
  });
});

describe('The circuit breaker (EX-04)', () => {
  const failing: readonly FaultName[] = ['status 503', 'reset', 'a stream without answer'];

  it('opens after three failures within a minute: the fourth call is not sent before the pause is over', async () => {
    const server = await start();
    const clock = createManualClock();
    await using rig = connectTo(server, { clock, random: () => 0 });
    for (const fault of failing) expect(await rig.call(fault)).toMatchObject({ reached: 'unknown' });
    expect(rig.connection.trouble).toMatchObject({ failures: 1 });
    const mark = newMark();
    const waiting = rig.call('none', { mark });
    await clock.advance(999);
    expect(server.executions(mark)).toBe(0);
    await clock.advance(1);
    expect(await waiting).toEqual({ text: mark });
  });

  it('stays closed when the failures are further apart, or a call works between them', async () => {
    const server = await start();
    const clock = createManualClock();
    await using rig = connectTo(server, { clock });
    for (let n = 0; n < 6; n++) {
      await rig.call(failing[n % 3]);
      await clock.advance(31_000);
    }
    expect(rig.connection.trouble).toBeUndefined();
    for (let n = 0; n < 6; n++) await rig.call(n % 3 === 0 ? 'none' : 'status 503');
    expect(rig.connection.trouble).toBeUndefined();
  });

  it('does not count what is the configuration, or the caller', async () => {
    const server = await start();
    await using rig = connectTo(server);
    const mine: readonly FaultName[] = [
      'status 401',
      'status 403',
      'wrong arguments',
      'an error',
      'status 400',
    ];
    for (const fault of [...mine, ...mine]) await rig.call(fault);
    expect(rig.connection.trouble).toBeUndefined();
  });

  it('is of one server: another at the same pool is not concerned', async () => {
    const [bad, good] = [await start(), await start()];
    await using rig = connectTo(bad);
    const other = rig.pool.connection({
      endpoint: httpEndpoint(good.url),
      scope: 'test',
      connectTimeoutMs: 5_000,
    });
    for (const fault of failing) await rig.call(fault);
    expect(rig.connection.trouble).toBeDefined();
    const mark = newMark();
    expect(await call(other, 'none', { mark })).toEqual({ text: mark });
  });
});

describe('A connection of one person or conversation', () => {
  it.each(ERAS)(
    'to a server of the %s era closes after five minutes without a call, and the next call connects again (W-87, W-88)',
    async era => {
      const server = await start(era);
      const clock = createManualClock();
      await using rig = connectTo(server, { clock, owner: personal('1') });
      const request = {
        endpoint: httpEndpoint(server.url),
        scope: 'test',
        owner: personal('1'),
        connectTimeoutMs: 5_000,
      };
      await rig.call();
      await clock.advance(240_000);
      await call(rig.pool.connection(request));
      for (let minute = 0; minute < 4; minute++) await clock.advance(60_000);
      expect(rig.pool.size).toBe(1);
      await clock.advance(60_000);
      expect(rig.pool.size).toBe(0);
      const mark = newMark();
      expect(await call(rig.pool.connection(request), 'none', { mark })).toEqual({ text: mark });
      expect(server.received.filter(({ verb }) => verb === 'DELETE')).toHaveLength(era === 'legacy' ? 1 : 0);
    },
  );

  it('is not closed while a call runs, however long', async () => {
    const server = await start();
    const clock = createManualClock();
    await using rig = connectTo(server, { clock, owner: personal('1') });
    const held = new Promise<ServerResponse>(resolve => {
      server.instead = ({ method }, response) => {
        if (method !== 'tools/call') return false;
        resolve(response);
        return true;
      };
    });
    const mark = newMark();
    const calling = rig.call('none', { mark, timeoutMs: 3_600_000 });
    const response = await held;
    for (let minute = 0; minute < 20; minute++) await clock.advance(60_000);
    expect(rig.pool.size).toBe(1);
    const { id } = server.received.find(({ method }) => method === 'tools/call')!;
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: mark }] } }));
    expect(await calling).toEqual({ text: mark });
    await clock.advance(240_000);
    expect(rig.pool.size).toBe(1);
    await clock.advance(60_000);
    expect(rig.pool.size).toBe(0);
  });

  it('is another than that of the next one, and than that of everybody', async () => {
    const server = await start('legacy');
    await using rig = connectTo(server, { owner: personal('1') });
    const connectionOf = (owner: ConnectRequest['owner']) =>
      rig.pool.connection({
        endpoint: httpEndpoint(server.url),
        scope: 'test',
        owner,
        connectTimeoutMs: 5_000,
      });
    expect(connectionOf(personal('1'))).toBe(rig.connection);
    for (const owner of [personal('1'), personal('2'), undefined]) await call(connectionOf(owner));
    const sessions = server.received
      .filter(({ method }) => method === 'tools/call')
      .map(({ headers }) => headers['mcp-session-id']);
    expect(new Set(sessions).size).toBe(3);
  });
});

describe('Five hundred servers of which half are down', () => {
  /** One process that is many servers, told apart by their paths. */
  async function startMany() {
    const state = { connects: 0, open: 0, mostOpen: 0 };
    const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
      const isDead = Number(request.url!.slice(1)) % 2 === 1;
      let body = '';
      for await (const chunk of request) body += chunk;
      if (isDead) return void request.socket.destroy();
      const { id, method, params } = JSON.parse(body);
      if (method === 'subscriptions/listen') return void response.writeHead(405).end();
      const results: Record<string, unknown> = {
        'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
        'tools/list': { tools: [] },
        'tools/call': { content: [{ type: 'text', text: params.arguments?.mark }] },
      };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }));
    });
    server.on('connection', socket => {
      state.connects += 1;
      state.open += 1;
      state.mostOpen = Math.max(state.mostOpen, state.open);
      socket.on('close', () => {
        state.open -= 1;
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return { state, server, url: (n: number) => `http://127.0.0.1:${port}/${n}` };
  }

  it('connect each by itself: the good half answers, the others are down, and a later call to them fails at once (W-10, W-11)', async () => {
    const many = await startMany();
    await using pool = testPool();
    const connections = Array.from({ length: 500 }, (_, n) =>
      pool.connection({ endpoint: httpEndpoint(many.url(n)), scope: 'test', connectTimeoutMs: 10_000 }),
    );
    for (const connection of connections) connection.keep();
    const good = connections.filter((_, n) => n % 2 === 0);
    const bad = connections.filter((_, n) => n % 2 === 1);
    const marks = good.map(newMark);
    expect(
      await Promise.all(good.map((connection, n) => call(connection, 'none', { mark: marks[n] }))),
    ).toEqual(marks.map(text => ({ text })));
    await Promise.all(bad.map(connection => becomes(connection, () => connection.trouble !== undefined)));
    expect(good.map(({ trouble }) => trouble)).toEqual(good.map(() => undefined));
    expect(await call(bad[0]!, 'none', { timeoutMs: 100 })).toMatchObject({
      kind: 'SERVER_UNAVAILABLE',
      reached: 'no',
    });
    expect(bad[0]!.listed).toBeUndefined();
    await pool.close();
    await vi.waitFor(() => expect(many.state.open).toBe(0), 10_000);
    many.server.close();
  });

  it('cost the same after twenty tries as after one: nothing is kept of what failed', async () => {
    const server = await start();
    await server.kill();
    const clock = createManualClock();
    await using pool = testPool({ clock });
    const connections = Array.from({ length: 50 }, (_, n) =>
      pool.connection({
        endpoint: httpEndpoint(`${server.url}/${n}`),
        scope: 'test',
        connectTimeoutMs: 1_000,
      }),
    );
    for (const connection of connections) connection.keep();
    const waiting: number[] = [];
    for (let tries = 1; tries <= 20; tries++) {
      await Promise.all(connections.map(connection => isDown(connection, tries)));
      await clock.advance(0);
      waiting.push(clock.waiting);
      await clock.advance(60_000);
    }
    expect(new Set(waiting).size).toBe(1);
  });
});
