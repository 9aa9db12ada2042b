// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { expect, it } from 'vitest';
import type { ServerDefinition } from '../../packages/server/src/connections/server/definition.ts';
import { createLiveServers } from '../../packages/server/src/connections/server/live-servers.ts';
import type { Connection } from '../../packages/server/src/connections/session/connection.ts';
import { SessionError } from '../../packages/server/src/connections/session/failure.ts';
import type { HeardEvent } from '../../packages/server/src/kernel/events.ts';
import { createManualClock } from '../manual-clock.ts';
import { NO_PEOPLE } from './no-people.ts';
import { quiet } from './test-pool.ts';

const REF = { scope: 'default', name: 'keyed' };
const DEFINITION = {
  ref: REF,
  auth: { kind: 'none' },
  transport: { kind: 'http', url: 'https://a.example/mcp', headers: { authorization: '${vault:key}' } },
} as unknown as ServerDefinition;

/** One server whose connections the test gives out, in the order they are asked for. */
function liveServer() {
  const clock = createManualClock();
  const asked: PromiseWithResolvers<Connection>[] = [];
  const kept: string[] = [];
  const retired: string[] = [];
  let tell: (event: HeardEvent) => void = () => undefined;
  const names = new Map<Connection, string>();
  const view = { offered: new Map(), known: new Map(), changes: new Map(), shortcomings: [] };
  const live = createLiveServers({
    registry: {
      list: () => ({ servers: [{ definition: DEFINITION, stored: undefined }], unusable: [] }),
      subscribe: () => () => undefined,
    },
    calls: {
      connection: () => {
        asked.push(Promise.withResolvers());
        return asked.at(-1)!.promise;
      },
      listed: () => view,
    } as never,
    accepted: { of: () => new Map(), read: async () => undefined, first: async () => undefined } as never,
    ...NO_PEOPLE,
    pool: {
      retire: async (one: Connection) => void retired.push(names.get(one)!),
      retireOf: async () => undefined,
      stderrOf: () => [],
    },
    store: {
      subscribe: listener => {
        tell = event => listener(event, 'here');
        return () => undefined;
      },
    },
    clock,
    random: () => 0,
    logger: quiet,
    onTools: () => undefined,
  });
  live.start();
  return {
    clock,
    asked,
    kept,
    retired,
    state: () => live.health(REF).state,
    problem: () => live.health(REF).problem,
    rotate: () => tell({ kind: 'secret-changed', name: 'key' }),
    newConnection(name: string): Connection {
      const connection = {
        facts: { protocolVersion: '2025-11-25' },
        subscribe: () => () => undefined,
        keep: () => void kept.push(name),
      } as unknown as Connection;
      names.set(connection, name);
      return connection;
    },
  };
}

it('What an earlier look at a secret finds late counts for nothing (attack 20)', async () => {
  const server = liveServer();
  await expect.poll(() => server.asked.length).toBe(1);
  server.rotate();
  server.rotate();
  await expect.poll(() => server.asked.length).toBe(3);
  const [first, second, third] = server.asked;
  third!.resolve(server.newConnection('newest'));
  await expect.poll(() => server.kept).toEqual(['newest']);
  second!.resolve(server.newConnection('older'));
  first!.reject(new SessionError('AUTHENTICATION_FAILED', 'no', 'there was none'));
  await server.clock.advance(0);
  expect([server.kept, server.retired, server.state()]).toEqual([['newest'], [], 'available']);
});

it('A store that does not answer takes no connection away, and is asked again, at last each minute, without end', async () => {
  const server = liveServer();
  await expect.poll(() => server.asked.length).toBe(1);
  server.asked[0]!.resolve(server.newConnection('old'));
  await expect.poll(() => server.kept).toEqual(['old']);
  server.rotate();
  await expect.poll(() => server.asked.length).toBe(2);
  for (const pause of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, ...Array(20).fill(60_000)]) {
    const tries = server.asked.length;
    server.asked.at(-1)!.reject(new Error('the database is gone'));
    await expect.poll(() => server.clock.waiting).toBe(1);
    expect(server.state()).toBe('available');
    await server.clock.advance(pause - 1);
    expect(server.asked.length).toBe(tries);
    await server.clock.advance(1);
    await expect.poll(() => server.asked.length).toBe(tries + 1);
  }
  server.asked.at(-1)!.resolve(server.newConnection('new'));
  await expect.poll(() => server.kept).toEqual(['old', 'new']);
  expect(server.retired).toEqual(['old']);
});

it('A secret that is gone takes the connection with it, at once', async () => {
  const server = liveServer();
  await expect.poll(() => server.asked.length).toBe(1);
  server.asked[0]!.resolve(server.newConnection('old'));
  await expect.poll(() => server.kept).toEqual(['old']);
  server.rotate();
  await expect.poll(() => server.asked.length).toBe(2);
  server.asked[1]!.reject(new SessionError('AUTHENTICATION_FAILED', 'no', 'there is no secret'));
  await expect.poll(() => server.retired).toEqual(['old']);
  expect(server.problem()).toEqual({
    kind: 'AUTHENTICATION_FAILED',
    message: 'there is no secret',
    at: server.clock.now(),
    failures: 1,
    retryAt: server.clock.now() + 1_000,
  });
});
