import { request } from 'node:http';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rpc } from '../doors/wire.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** With a `Host` of our choosing, which `fetch` does not let one say. */
function get(url: string, host: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { host } }, response => {
      let text = '';
      response.on('data', piece => {
        text += piece;
      });
      response.on('end', () => {
        resolve({ status: response.statusCode!, body: text.startsWith('{') ? JSON.parse(text) : {} });
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}

async function document(platform: TestPlatform, path: string): Promise<Answer> {
  const response = await fetch(platform.url + WELL_KNOWN + path);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('what clients are told of the doors', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform();
  });
  afterAll(() => platform?.close());

  it('names the operator door and who issues tokens for it (E-37, E-41)', async () => {
    expect(await document(platform, '/mcp')).toEqual({
      status: 200,
      body: {
        resource: platform.operatorUrl,
        authorization_servers: [platform.url],
        scopes_supported: ['openid'],
        bearer_methods_supported: ['header'],
        resource_name: 'Patchbay',
      },
    });
  });

  it('names the agent exactly, whether there is one or not (attack 23)', async () => {
    for (const agentId of ['demo', 'nobody']) {
      expect(await document(platform, `/${agentId}/mcp`)).toEqual({
        status: 200,
        body: {
          resource: platform.agentUrl(agentId),
          authorization_servers: [platform.url],
          scopes_supported: ['agents'],
          bearer_methods_supported: ['header'],
          resource_name: 'Patchbay agents',
        },
      });
    }
  });

  it('names all agents at once where no path follows (B-06)', async () => {
    for (const path of ['', '/'])
      expect((await document(platform, path)).body).toMatchObject({
        resource: platform.url,
        scopes_supported: ['agents'],
      });
  });

  it.each(['/MCP', '/mcp/', '//mcp', '/oauth/mcp', '/demo', '/demo/mcp/x', '/De%6do/mcp', '/../mcp%2e'])(
    'knows nothing at %s',
    async path => {
      const response = await fetch(platform.url + WELL_KNOWN + path);
      expect(response.status).toBe(404);
    },
  );

  it('is the document that each door points to when it lets nobody in (E-36, E-40, B-77)', async () => {
    for (const [url, name] of [
      [platform.operatorUrl, 'Bearer resource_metadata='],
      [platform.agentUrl('demo'), 'Bearer realm="MCP", resource_metadata='],
      [platform.agentUrl('nobody'), 'Bearer realm="MCP", resource_metadata='],
    ] as const) {
      const { headers } = await rpc(url, 'tools/list', {});
      const challenge = headers.get('www-authenticate')!;
      expect(challenge.startsWith(name), challenge).toBe(true);
      const address = /resource_metadata="([^"]+)"/.exec(challenge)![1]!;
      expect(((await (await fetch(address)).json()) as { resource: string }).resource).toBe(url);
    }
  });

  it('says which scopes to ask for, and that a credential did not help', async () => {
    const without = await rpc(platform.operatorUrl, 'tools/list', {});
    expect(without.headers.get('www-authenticate')).toMatch(/, scope="openid"$/);
    const withOne = await rpc(platform.operatorUrl, 'tools/list', {}, { key: 'bad' });
    expect(withOne.headers.get('www-authenticate')).toMatch(
      /^Bearer error="invalid_token", resource_metadata=.*, scope="openid"$/,
    );
    const agent = await rpc(platform.agentUrl('demo'), 'tools/list', {});
    expect(agent.headers.get('www-authenticate')).toMatch(/, scope="agents"$/);
  });

  it('is what the person connected to, under each name of this machine (E-40)', async () => {
    const { port } = new URL(platform.url);
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]) {
      const { body } = await get(`${platform.url}${WELL_KNOWN}/demo/mcp`, host);
      expect(body).toMatchObject({
        resource: `http://${host}/demo/mcp`,
        authorization_servers: [platform.url],
      });
    }
    expect((await get(`${platform.url}${WELL_KNOWN}/mcp`, 'evil.example')).status).toBe(403);
  });

  it('never repeats what a Host header holds besides a name of ours', async () => {
    const { port } = new URL(platform.url);
    for (const host of ['localhost:1', `localhost:${port}"x`, `evil@localhost:${port}`]) {
      const { status, body } = await get(`${platform.url}${WELL_KNOWN}/mcp`, host);
      if (status === 200) expect(body.resource).toBe(platform.operatorUrl);
      else expect(status).toBeOneOf([400, 403]);
    }
  });

  it('may be read by a page from anywhere, and nothing else may', async () => {
    const headers = { origin: 'https://inspector.example' };
    const read = await fetch(`${platform.url}${WELL_KNOWN}/mcp`, { headers });
    expect([read.status, read.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(read.headers.get('access-control-allow-credentials')).toBeNull();
    const asked = await fetch(`${platform.url}${WELL_KNOWN}/mcp`, {
      method: 'OPTIONS',
      headers: {
        ...headers,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'mcp-protocol-version',
      },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-headers')).toContain('mcp-protocol-version');
    expect((await fetch(platform.operatorUrl, { headers })).status).toBe(403);
    expect((await fetch(`${platform.url}${WELL_KNOWN}/mcp`, { method: 'POST', headers })).status).toBe(403);
  });
});

describe('what clients are told of the doors of an installation with an address', () => {
  it.each([
    [{ PATCHBAY_PUBLIC_URL: 'https://bay.example/x' }, 'https://bay.example/x'],
    // The older name of the setting (B-37), for an address that only ever is this machine.
    [{ MCP_PUBLIC_URL: 'http://localhost:8094' }, 'http://localhost:8094'],
    [{ PATCHBAY_PUBLIC_URL: 'http://bay.lan' }, 'https://bay.lan'],
    [
      { PATCHBAY_PUBLIC_URL: 'http://bay.lan', PATCHBAY_RESOURCE_METADATA_FORCE_HTTPS_SCHEME: 'false' },
      'http://bay.lan',
    ],
  ])('%j (B-37, E-39, E-40)', async (env: Record<string, string>, base) => {
    const platform = await startTestPlatform({ env });
    try {
      expect(await (await fetch(`${platform.url}${WELL_KNOWN}/mcp`)).json()).toMatchObject({
        resource: `${base}/mcp`,
        authorization_servers: [base],
      });
      const refused = await rpc(`${platform.url}/demo/mcp`, 'tools/list', {});
      expect(refused.headers.get('www-authenticate')).toContain(
        `resource_metadata="${base}${WELL_KNOWN}/demo/mcp"`,
      );
    } finally {
      await platform.close();
    }
  });

  it('also where the prefix of a proxy stands behind the well-known path', async () => {
    const platform = await startTestPlatform({ env: { PATCHBAY_PUBLIC_URL: 'https://bay.example/x' } });
    try {
      const answer = await fetch(`${platform.url}${WELL_KNOWN}/x/demo/mcp`);
      expect(await answer.json()).toMatchObject({ resource: 'https://bay.example/x/demo/mcp' });
    } finally {
      await platform.close();
    }
  });

  it('names the scopes and the path that are set (E-38)', async () => {
    const platform = await startTestPlatform({
      env: {
        PATCHBAY_OPERATOR_DOOR_PATH: '/ops',
        PATCHBAY_RESOURCE_METADATA_SCOPES: 'openid offline_access',
      },
    });
    try {
      expect((await document(platform, '/ops')).body).toMatchObject({
        resource: platform.operatorUrl,
        scopes_supported: ['openid', 'offline_access'],
      });
      expect((await document(platform, '/mcp')).status).toBe(404);
      const { headers } = await rpc(platform.operatorUrl, 'tools/list', {});
      expect(headers.get('www-authenticate')).toMatch(/scope="openid offline_access"$/);
    } finally {
      await platform.close();
    }
  });
});
