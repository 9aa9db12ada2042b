import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteDeploymentsOf } from '../../packages/server/src/store/tables/deployments.ts';
import { platforms } from '../doors/platforms.ts';
import { rpc } from '../doors/wire.ts';
import { agentsKey, answeringAgent, type RestOptions, rest } from './rest-client.ts';

describe.each(platforms)('agents on REST of $kind', ({ start }) => {
  let platform: TestPlatform;
  /** Of the owner, with the scope `agents` only. */
  let key: string;
  beforeAll(async () => {
    platform = await start();
    key = await agentsKey(platform);
  });
  afterAll(() => platform?.close());

  const ask = (method: string, path: string, options: Partial<RestOptions> = {}) =>
    rest(platform.url, method, path, { key, ...options });

  it('are listed with mcp_enabled, for a key that opens agents only (B-36)', async () => {
    const { status, body } = await ask('GET', '/agents');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      count: 1,
      agents: [
        {
          id: 'demo',
          slug: 'demo',
          instanceId: 'demo:production',
          status: 'RUNNING',
          mcp_enabled: true,
          mcpEnabled: true,
          visibility: 'private',
        },
      ],
    });
    expect((await ask('GET', '/agents/demo')).body).toEqual(body.agents[0]);
  });

  it('refuse an agent key, and no key, and everything beside these routes', async () => {
    for (const refused of [platform.agentKey, null, `oag_${'1'.repeat(64)}`]) {
      for (const path of ['/agents', '/agents/demo', '/instances']) {
        const { status, body } = await ask('GET', path, { key: refused });
        expect([status, body.error.code]).toEqual([401, 'unauthorized']);
      }
    }
    for (const path of ['/discovery', '/api-keys', '/agent-configs', '/agents/demo/keys'])
      expect((await ask('GET', path)).status).toBe(401);
  });

  it('are opened to MCP clients by mcp_enabled and closed again, at once on every node (B-76)', async () => {
    const door = async () =>
      (await rpc(platform.agentUrl('demo'), 'tools/list', {}, { key: platform.agentKey })).status;
    const change = (body: unknown) => ask('PATCH', '/agents/demo', { body });
    expect(await door()).toBe(200);
    expect((await change({ mcp_enabled: false })).body).toMatchObject({
      mcp_enabled: false,
      mcpEnabled: false,
    });
    await expect.poll(door, { interval: 2 }).toBe(401);
    expect((await change({ mcpEnabled: true, mcp_enabled: true })).body).toMatchObject({ mcp_enabled: true });
    await expect.poll(door, { interval: 2 }).toBe(200);
  });

  it.each([
    ['nothing', {}],
    ['null', { mcp_enabled: null }],
    ['names that disagree', { mcp_enabled: true, mcpEnabled: false }],
    ['another member', { mcp_enabled: true, visibility: 'public' }],
    ['text', { mcp_enabled: 'true' }],
    ['a number', { mcpEnabled: 1 }],
  ])('refuse a change that says %s', async (_name, body) => {
    const answer = await ask('PATCH', '/agents/demo', { body });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_param']);
    expect((await ask('GET', '/agents/demo')).body.mcp_enabled).toBe(true);
  });

  it('of somebody else are not there, in the same words as those that are nobody’s', async () => {
    const editor = await platform.addPerson(['patchbay-editor']);
    const stranger = await agentsKey(platform, editor.userId);
    for (const [method, options] of [
      ['GET', {}],
      ['PATCH', { body: { mcp_enabled: false } }],
    ] as const) {
      const foreign = await ask(method, '/agents/demo', { key: stranger, ...options });
      const missing = await ask(method, '/agents/dem0', { key: stranger, ...options });
      expect(foreign.status).toBe(404);
      expect(foreign.body.error.code).toBe('agent_not_found');
      expect(JSON.stringify(foreign.body)).toBe(JSON.stringify(missing.body).replace('dem0', 'demo'));
    }
    expect((await ask('GET', '/agents', { key: stranger })).body).toEqual({ count: 0, agents: [] });
    expect((await ask('GET', '/instances', { key: stranger })).body.count).toBe(0);
  });

  it('of everybody are an admin’s with an operator key, and not with one of scope agents', async () => {
    const editor = await platform.addPerson(['patchbay-editor']);
    const deployed = await ask('POST', '/agent-files', {
      key: editor.key,
      body: { file: answeringAgent('editors-own', 'Yes.', { mcp: false }) },
    });
    expect(deployed.status).toBe(200);
    expect((await ask('GET', '/agents/editors-own')).status).toBe(404);
    expect((await ask('PATCH', '/agents/editors-own', { body: { mcp_enabled: true } })).status).toBe(404);
    const admin = { key: platform.operatorKey };
    const changed = await ask('PATCH', '/agents/editors-own', { ...admin, body: { mcp_enabled: true } });
    expect(changed.body).toMatchObject({ id: 'editors-own', mcp_enabled: true });
    const page = await ask('GET', '/agents?limit=1&after=demo', admin);
    expect(page.body.agents.map(({ id }: { id: string }) => id)).toEqual(['editors-own']);
  });

  it('show where they run and how they take messages (B-82)', async () => {
    const { store } = platform.platform;
    await ask('POST', '/agent-files', {
      key: platform.operatorKey,
      body: { file: answeringAgent('resting', 'Yes.') },
    });
    await store.commit(async db => {
      await deleteDeploymentsOf(db, 'resting');
    });
    const { body } = await ask('GET', '/instances');
    expect(body.instances).toEqual(
      expect.arrayContaining([
        {
          instanceId: 'demo:production',
          agentId: 'demo',
          name: expect.any(String),
          environment: 'production',
          version: 1,
          state: 'RUNNING',
          delivery_mode: 'push',
        },
        {
          instanceId: 'resting:production',
          agentId: 'resting',
          name: 'The resting',
          environment: 'production',
          state: 'STOPPED',
          delivery_mode: 'push',
        },
      ]),
    );
  });

  it.each([
    '/agents/..%2F..%2Fetc',
    '/agents/%2e%2e%2fdemo',
    '/agents/%00',
    `/agents/${'a'.repeat(3_000)}`,
    '/agents/demo%27%20or%201=1',
  ])('are not found by %s', async path => {
    expect([400, 404]).toContain((await ask('GET', path)).status);
  });

  it('have keys that are listed and revoked by agent', async () => {
    const operator = { key: platform.operatorKey };
    const made = await platform.platform.keys.createAgentKey(
      {
        id: platform.platform.owner.id,
        roles: new Set(),
        via: 'cli',
        credential: 'test',
        agents: { kind: 'own' },
      },
      { agentId: 'demo', name: 'to be revoked' },
    );
    const listed = async () =>
      (await ask('GET', '/agents/demo/keys', operator)).body.keys.map(({ id }: { id: string }) => id);
    expect(await listed()).toContain(made.record.id);
    const elsewhere = await ask('DELETE', `/agents/nobody/keys/${made.record.id}`, operator);
    expect(elsewhere.body.error.code).toBe('agent_not_found');
    const other = await platform.platform.keys.createUserKey(platform.platform.owner.id, {
      name: 'no key of the agent',
      scopes: ['agents'],
    });
    expect((await ask('DELETE', `/agents/demo/keys/${other.record.id}`, operator)).status).toBe(404);
    const revoked = await ask('DELETE', `/agents/demo/keys/${made.record.id}`, operator);
    expect(revoked.body).toEqual({ id: made.record.id, revoked: true });
    expect(await listed()).not.toContain(made.record.id);
  });
});
