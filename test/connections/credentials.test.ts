import { describe, expect, it } from 'vitest';
import type { Credential } from '../../packages/server/src/connections/credential/credential.ts';
import { startScriptedServer } from './servers/scripted-server.ts';
import { startSseServer } from './servers/sse-server.ts';
import { httpEndpoint, testPool } from './test-pool.ts';

/** Shows one token after the other, each time the last one is refused. */
function credentialOf(tokens: string[]): Credential {
  let token = tokens.shift();
  return {
    headers: async () => ({ authorization: `Bearer ${token}` }),
    refused: async () => {
      token = tokens.shift();
      return token !== undefined;
    },
  };
}

const call = { method: 'tools/call', params: { name: 'a' }, timeoutMs: 5_000 };
const connectTo = (url: string, credential: Credential) => ({
  endpoint: httpEndpoint(url),
  scope: 'test',
  connectTimeoutMs: 5_000,
  credential,
});

describe('A credential', () => {
  it('is shown in every request, and renewed, over HTTP+SSE, too', async () => {
    const valid = new Set(['good']);
    await using server = await startSseServer(valid);
    await using pool = testPool();
    const connection = pool.connection(connectTo(server.url, credentialOf(['bad', 'good', 'better'])));
    await connection.ready();
    valid.delete('good');
    valid.add('better');
    expect(await connection.request(call)).toEqual({ content: [] });
    expect(server.heard.slice(-2)).toEqual(['POST good', 'POST better']);
    expect(server.heard).toContain('GET good');
  });

  it('that is refused again and again is shown five times', async () => {
    await using server = await startScriptedServer(() => ({ status: 401 }));
    await using pool = testPool();
    const tokens = [...Array(20)].map((_, at) => `t${at}`);
    await expect(pool.connection(connectTo(server.url, credentialOf(tokens))).ready()).rejects.toMatchObject({
      kind: 'AUTHENTICATION_FAILED',
      reached: 'no',
    });
    expect(server.heard.map(({ headers }) => headers.authorization)).toEqual(
      ['t0', 't1', 't2', 't3', 't4'].map(token => `Bearer ${token}`),
    );
  });
});
