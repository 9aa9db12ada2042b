import { describe, expect, it } from 'vitest';
import { startModernServer } from './servers/modern-server.ts';
import { startEverything } from './servers/npm-server.ts';
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
});
