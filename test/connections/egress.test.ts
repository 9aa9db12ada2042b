import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSafeFetch, type SafeFetchOptions } from '../../packages/server/src/kernel/safe-fetch.ts';
import { call, newMark } from './fault-rig.ts';
import { type FaultServer, startFaultServer } from './servers/fault-server.ts';
import { httpEndpoint, testPool } from './test-pool.ts';

let server: FaultServer;
beforeEach(async () => {
  server = await startFaultServer('modern');
});
afterEach(() => server[Symbol.asyncDispose]());

/** A pool whose way out is limited, and a connection through it. */
function connect(url: string, hostFrom: 'operator' | 'outside', options: Partial<SafeFetchOptions> = {}) {
  const fetch = createSafeFetch({ allowPrivate: () => true, ...options });
  const pool = testPool({ fetch });
  const endpoint = { ...httpEndpoint(url), hostFrom };
  const connection = pool.connection({ endpoint, scope: 'test', connectTimeoutMs: 5_000 });
  return {
    connection,
    async [Symbol.asyncDispose]() {
      await pool[Symbol.asyncDispose]();
      await fetch.close();
    },
  };
}

const NOT_REACHED = { kind: 'SERVER_UNAVAILABLE', reached: 'no' };
const SOON = { timeoutMs: 200 };

describe('An MCP server named from outside', () => {
  it.each([
    ['127.0.0.1'],
    ['2130706433'],
    ['0177.1'],
    ['[::ffff:127.0.0.1]'],
    ['localhost'],
    ['localhost.localdomain'],
    ['inside.example'],
  ])('at a private address, written %s, is not connected to (attack 30)', async host => {
    const { port } = new URL(server.url);
    await using rig = connect(`http://${host}:${port}/mcp`, 'outside', {
      resolve: async () => ['93.184.216.34', '127.0.0.1'],
    });
    expect(await call(rig.connection, 'none', SOON)).toMatchObject(NOT_REACHED);
    expect(server.received).toEqual([]);
  });
});

describe('An MCP server', () => {
  it('whose name turns to another address is not followed there: what is connected to is what was checked (attack 31)', async () => {
    const { port } = new URL(server.url);
    let address = '127.0.0.1';
    let lookups = 0;
    await using rig = connect(`http://rebind.example:${port}/mcp`, 'operator', {
      resolve: async () => {
        lookups += 1;
        return [address];
      },
    });
    expect(await call(rig.connection)).toHaveProperty('text');
    address = '169.254.169.254';
    await server.kill();
    await server.start();
    const mark = newMark();
    expect(await call(rig.connection, 'none', { mark, ...SOON })).toMatchObject(NOT_REACHED);
    expect(lookups).toBeGreaterThan(1);
    expect(server.executions(mark)).toBe(0);
    address = '127.0.0.1';
    expect(await call(rig.connection, 'none', { mark })).toEqual({ text: mark });
  });

  it.each([301, 302, 303, 307, 308])(
    'that redirects with %i to another origin sends nobody there (attack 32)',
    async status => {
      const other = await startFaultServer('modern');
      const targets = [
        other.url,
        'http://169.254.169.254/mcp',
        'http://[::1]/mcp',
        'file:///etc/passwd',
        'http://',
      ];
      for (const location of targets) {
        await using rig = connect(server.url, 'operator');
        await rig.connection.ready();
        server.instead = ({ method }, response) =>
          method === 'tools/call' && response.writeHead(status, { location }).end();
        expect(await call(rig.connection)).toMatchObject({ kind: 'PROTOCOL_ERROR', reached: 'yes' });
        server.instead = (_, response) => response.writeHead(status, { location }).end();
        await using late = connect(`${server.url}?late`, 'operator');
        expect(await call(late.connection, 'none', SOON)).toMatchObject(NOT_REACHED);
        server.instead = () => false;
      }
      expect(other.received).toEqual([]);
      await other[Symbol.asyncDispose]();
    },
  );

  it.each([307, 308])(
    'that redirects within its origin with %i is followed, with everything a request has (attack 32)',
    async status => {
      await using rig = connect(server.url, 'operator');
      server.instead = ({ path }, response) =>
        path === '/mcp' && response.writeHead(status, { location: '/elsewhere' }).end();
      const mark = newMark();
      expect(await call(rig.connection, 'none', { mark })).toEqual({ text: mark });
      expect(server.executions(mark)).toBe(1);
      const [first, second] = server.received.filter(({ method }) => method === 'tools/call');
      expect(second).toEqual({ ...first, path: '/elsewhere' });
    },
  );

  it('is not reached through a proxy that the environment names (attack 34)', async () => {
    const proxy = await startFaultServer('modern');
    const names = [
      'HTTP_PROXY',
      'http_proxy',
      'HTTPS_PROXY',
      'https_proxy',
      'ALL_PROXY',
      'NODE_USE_ENV_PROXY',
    ];
    const before = names.map(name => process.env[name]);
    for (const name of names)
      process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : new URL(proxy.url).origin;
    try {
      await using rig = connect(server.url, 'operator');
      expect(await call(rig.connection)).toHaveProperty('text');
      expect(proxy.received).toEqual([]);
    } finally {
      for (const [n, name] of names.entries()) {
        if (before[n] === undefined) delete process.env[name];
        else process.env[name] = before[n];
      }
      await proxy[Symbol.asyncDispose]();
    }
  });
});
