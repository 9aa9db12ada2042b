import { createClient } from '@patchbay/contract/client';
import type { PlatformOverrides } from '@patchbay/server';
import { startTestCluster, type TestCluster } from '@patchbay/testing/cluster';
import type { TestNode } from '@patchbay/testing/platform';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { callTool, post, rpc, startTool, type WireOptions } from '../doors/wire.ts';

let cluster: TestCluster;
let one: TestNode;
let other: TestNode;

async function start(overrides: PlatformOverrides): Promise<void> {
  cluster = await startTestCluster({ nodes: 2, env: { PATCHBAY_AGENT_DOOR_RATE: '20' }, overrides });
  [one, other] = cluster.nodes as [TestNode, TestNode];
}

const rest = (node: TestNode) => createClient({ baseUrl: node.url, token: node.ownerToken, fetch });
const listAgent = (node: TestNode, key: string, agentId = 'demo') =>
  rpc(node.agentUrl(agentId), 'tools/list', {}, { key });
const agentStatus = async (node: TestNode, key: string, agentId?: string) =>
  (await listAgent(node, key, agentId)).status;
const operatorStatus = async (node: TestNode, key: string) =>
  (await rpc(node.operatorUrl, 'tools/list', {}, { key })).status;
const newKey = () => rest(one).call('create_key', { name: 'k', scopes: ['agents', 'operator'] });

function agentFile(name: string, mcpEnabled = true) {
  const outputs = [{ valueAlternatives: [{ type: 'text', text: 'Hello.' }] }];
  const rules = [{ name: 'answer', actions: ['answer'], conditions: [] }];
  return {
    agent: 'renamed',
    name,
    mcp_enabled: mcpEnabled,
    rules: { behaviorGroups: [{ name: 'all', rules }] },
    output: { outputSet: [{ action: 'answer', outputs }] },
  };
}

const RESYNCS = 'patchbay_events_total{kind="resync",origin="elsewhere"}';

/** The processes of the database server behind the connections that listen. */
async function listeningProcesses(): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
    where application_name = 'patchbay news' and datname = current_database()`.execute(one.platform.store.db);
  return rows.map(({ pid }) => pid);
}

/** Past the platform, so that nobody tells. */
async function revokeUnheard(id: string): Promise<void> {
  const { db } = one.platform.store;
  await db.updateTable('keys').set({ revoked_at: 1 }).where('id', '=', id).execute();
}

/** A session of the operator's key, opened at the first node. */
async function session(): Promise<WireOptions> {
  const key = cluster.operatorKey;
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const { headers } = await rpc(one.agentUrl('demo'), 'initialize', hello, { key });
  return { key, headers: { 'mcp-session-id': headers.get('mcp-session-id')! } };
}

/** The demo agent takes 1.6 seconds for it. */
const slow = (node: TestNode, options: WireOptions) =>
  startTool(node.agentUrl('demo'), 'demo', { message: 'show progress' }, options);

function cancel(node: TestNode, requestId: unknown, options: WireOptions) {
  const notification = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } };
  return post(node.agentUrl('demo'), notification, options);
}

async function metric(node: TestNode, name: string): Promise<number> {
  const response = await fetch(`${node.url}/metrics`, {
    headers: { authorization: `Bearer ${cluster.operatorKey}` },
  });
  const line = (await response.text()).split('\n').find(each => each.startsWith(`${name} `));
  return Number(line?.slice(name.length) ?? 0);
}

describe('access that ends on one node', () => {
  // For these nodes no time passes: what they remember ends by news or never.
  const startedAt = Date.now();
  beforeAll(() => start({ clock: { ...systemClock, now: () => startedAt } }));
  afterAll(() => cluster?.close());

  it('ends on the other one when a key is revoked (B-23)', async () => {
    for (const [revoking, node] of [
      [one, other],
      [other, one],
    ] as const) {
      const { id, key } = await newKey();
      expect([await agentStatus(node, key), await operatorStatus(node, key)]).toEqual([200, 200]);
      await rest(revoking).call('revoke_key', { keyId: id });
      // Where it was revoked it ended before the answer.
      expect([await agentStatus(revoking, key), await operatorStatus(revoking, key)]).toEqual([401, 401]);
      await expect
        .poll(async () => [await agentStatus(node, key), await operatorStatus(node, key)])
        .toEqual([401, 401]);
    }
  });

  it('ends when a role is taken away', async () => {
    const { userId, key } = await cluster.addPerson(['patchbay-admin']);
    const metrics = async (node: TestNode) =>
      (await fetch(`${node.url}/metrics`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect([await metrics(one), await metrics(other)]).toEqual([200, 200]);
    await one.platform.users.setRoles(userId, ['patchbay-viewer']);
    expect(await metrics(one)).toBe(403);
    await expect.poll(() => metrics(other)).toBe(403);
  });

  it('ends when an agent is closed to MCP, and its new words are shown', async () => {
    const key = cluster.operatorKey;
    const nameOn = async (node: TestNode) =>
      (await listAgent(node, key, 'renamed')).body.result?.tools[0].title;
    await rest(one).call('deploy_agent_file', { file: agentFile('First') });
    expect([await nameOn(one), await nameOn(other)]).toEqual(['First', 'First']);
    await rest(one).call('deploy_agent_file', { file: agentFile('Second') });
    expect(await nameOn(one)).toBe('Second');
    await expect.poll(() => nameOn(other)).toBe('Second');
    await rest(one).call('deploy_agent_file', { file: agentFile('Second', false) });
    expect(await agentStatus(one, key, 'renamed')).toBe(401);
    await expect.poll(() => agentStatus(other, key, 'renamed')).toBe(401);
    // What is granted counts at once, also where no news has come yet.
    await rest(one).call('deploy_agent_file', { file: agentFile('Second', true) });
    expect(await agentStatus(other, key, 'renamed')).toBe(200);
  });

  it('ends after news was lost: what is remembered is dropped when the connection is back', async () => {
    const { id, key } = await newKey();
    expect(await agentStatus(other, key)).toBe(200);
    await revokeUnheard(id);
    expect(await agentStatus(other, key)).toBe(200);
    for (const pid of await listeningProcesses()) process.kill(pid, 'SIGTERM');
    await expect.poll(() => agentStatus(other, key)).toBe(401);
    expect(await metric(other, RESYNCS)).toBe(1);
  });
});

describe('two nodes', () => {
  beforeAll(() => start({}));
  afterAll(() => cluster?.close());

  it('end access within a second where news does not arrive, and hear it again later', async () => {
    const { id, key } = await newKey();
    expect(await agentStatus(other, key)).toBe(200);
    // The servers of both listening connections fall silent without a word, as a lost network would make them.
    const silent = await listeningProcesses();
    for (const pid of silent) process.kill(pid, 'SIGSTOP');
    try {
      await rest(one).call('revoke_key', { keyId: id });
      // Connections are given up after five seconds only.
      await expect.poll(() => agentStatus(other, key), { timeout: 3_000 }).toBe(401);
      expect(await metric(other, RESYNCS)).toBe(0);
      await expect.poll(() => metric(other, RESYNCS), { timeout: 15_000 }).toBe(1);
    } finally {
      for (const pid of silent) process.kill(pid, 'SIGCONT');
    }
    const again = await newKey();
    expect(await agentStatus(other, again.key)).toBe(200);
    await rest(one).call('revoke_key', { keyId: again.id });
    await expect.poll(() => agentStatus(other, again.key)).toBe(401);
  });

  it('end access by the clock when a key expires', async () => {
    const { id, key } = await newKey();
    const expiresAt = Date.now() + 400;
    const { db } = one.platform.store;
    await db.updateTable('keys').set({ expires_at: expiresAt }).where('id', '=', id).execute();
    expect(await agentStatus(other, key)).toBe(200);
    await expect.poll(() => agentStatus(other, key), { interval: 5 }).toBe(401);
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
  });

  it('cancel a call that runs on the other one', async () => {
    const options = await session();
    const running = await slow(one, options);
    expect((await cancel(other, 1, options)).status).toBe(202);
    const { body } = await running.answer;
    expect(body.at(-1)).toMatchObject({ id: 1, error: { code: 499, data: { code: 'cancelled' } } });
  });

  it('cancel nothing for another session, another id, another credential or without a session', async () => {
    const mine = await session();
    const { key: second } = await newKey();
    const running = await slow(one, mine);
    expect((await cancel(other, 1, await session())).status).toBe(202);
    expect((await cancel(other, 1, { key: cluster.operatorKey })).status).toBe(202);
    expect((await cancel(other, '1', mine)).status).toBe(202);
    expect((await cancel(other, 1, { ...mine, key: second })).status).toBe(404);
    expect((await running.answer).body.at(-1)).toHaveProperty('result');
  });

  it('add up the calls of a credential (B-73)', async () => {
    const { key } = await newKey();
    const call = (node: TestNode) => callTool(node.agentUrl('demo'), 'demo', { message: 'hello' }, { key });
    for (let count = 0; count < 20; count += 1) expect((await call(one)).status).toBe(200);
    expect((await call(one)).status).toBe(429);
    // Each look is a call too; 20 of them would use the minute up here by themselves.
    await expect.poll(async () => (await call(other)).status, { interval: 200, timeout: 3_000 }).toBe(429);
    const { key: fresh } = await newKey();
    expect(
      (await callTool(other.agentUrl('demo'), 'demo', { message: 'hello' }, { key: fresh })).status,
    ).toBe(200);
  });

  it('do once what must happen once', async () => {
    const done = 'patchbay_jobs_total{kind="remove-leftovers",outcome="done"}';
    await expect.poll(async () => (await metric(one, done)) + (await metric(other, done))).toBe(1);
    const jobs = await one.platform.store.db
      .selectFrom('jobs')
      .selectAll()
      .where('kind', '=', 'remove-leftovers')
      .execute();
    expect(jobs).toMatchObject([{ every_ms: 3_600_000, holder: null, last_error: null }]);
  });
});
