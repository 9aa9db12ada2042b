import { describe, expect, it } from 'vitest';
import { startModernServer } from './servers/modern-server.ts';
import { startEverything } from './servers/npm-server.ts';
import { DISCOVERED, INITIALIZED, startScriptedServer } from './servers/scripted-server.ts';
import { httpEndpoint, testPool } from './test-pool.ts';

const call = (name: string, args: Record<string, unknown>) => ({
  method: 'tools/call',
  params: { name, arguments: args },
  timeoutMs: 5_000,
});

describe('A server is spoken to in the newest revision it knows', () => {
  it('of the older eras, over Streamable HTTP (A-05, A-07)', async () => {
    await using server = await startEverything('streamableHttp');
    await using pool = testPool();
    const connection = pool.connection({
      endpoint: httpEndpoint(server.url),
      scope: 'test',
      connectTimeoutMs: 10_000,
    });
    await connection.ready();
    expect(connection.facts).toMatchObject({
      era: 'legacy',
      protocolVersion: '2025-11-25',
      name: 'mcp-servers/everything',
    });
    expect(connection.listed!.length).toBeGreaterThan(5);
    expect(await connection.request(call('echo', { message: 'hi' }))).toEqual({
      content: [{ type: 'text', text: 'Echo: hi' }],
    });
  });

  it.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'which is the one that the server names: %s (A-05)',
    async protocolVersion => {
      await using server = await startScriptedServer(({ method }) => {
        if (method === 'server/discover') return { error: { code: -32601, message: 'no such method' } };
        return { result: method === 'initialize' ? { ...INITIALIZED, protocolVersion } : { tools: [] } };
      });
      await using pool = testPool();
      const connection = pool.connection({
        endpoint: httpEndpoint(server.url),
        scope: 'test',
        connectTimeoutMs: 5_000,
      });
      await connection.ready();
      expect(connection.facts).toMatchObject({ era: 'legacy', protocolVersion });
      const last = server.heard.at(-1)!;
      expect(last.headers['mcp-protocol-version']).toBe(protocolVersion);
      expect(last.params).toEqual({});
    },
  );

  it('over HTTP+SSE, where it has nothing else', async () => {
    await using server = await startEverything('sse');
    await using pool = testPool();
    const connection = pool.connection({
      endpoint: httpEndpoint(server.url),
      scope: 'test',
      connectTimeoutMs: 10_000,
    });
    expect(await connection.request(call('echo', { message: 'hi' }))).toEqual({
      content: [{ type: 'text', text: 'Echo: hi' }],
    });
  });

  it('of the stateless era (A-06, A-07)', async () => {
    await using server = await startModernServer();
    await using pool = testPool();
    const connection = pool.connection({
      endpoint: httpEndpoint(server.url),
      scope: 'test',
      connectTimeoutMs: 10_000,
    });
    const progress: number[] = [];
    const result = await connection.request({
      ...call('count', { to: 3 }),
      onProgress: p => progress.push(p.progress),
    });
    expect(connection.facts).toMatchObject({ era: 'modern', protocolVersion: '2026-07-28' });
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'counted to 3' }] });
    expect(progress).toEqual([1, 2, 3]);
  });

  it('which is remembered, and found out again when it turns out wrong (A-10)', async () => {
    let modern = false;
    await using server = await startScriptedServer(({ method }) => {
      if (method === 'tools/list') return { result: { tools: [] } };
      if (method === 'server/discover' && modern) return { result: DISCOVERED };
      if (method === 'initialize' && !modern) return { result: INITIALIZED };
      const error = { code: modern ? -32022 : -32601, message: 'no', data: { supported: ['2026-07-28'] } };
      return { status: modern ? 400 : 200, error };
    });
    await using pool = testPool();
    const openings: string[][] = [];
    for (let connects = 0; connects < 4; connects++) {
      modern = connects > 1;
      const before = server.heard.length;
      const connection = pool.connection({
        endpoint: httpEndpoint(server.url),
        scope: 'test',
        connectTimeoutMs: 5_000,
      });
      await connection.ready();
      await pool.retire(connection);
      const heard = server.heard.slice(before).map(({ method }) => method);
      openings.push(heard.filter(method => !method.startsWith('notifications/') && method !== 'tools/list'));
    }
    expect(openings).toEqual([
      ['server/discover', 'initialize'],
      ['initialize'],
      ['initialize', 'server/discover'],
      ['server/discover'],
    ]);
  });
});
