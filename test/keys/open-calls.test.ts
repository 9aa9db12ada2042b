import { createClient } from '@patchbay/contract/client';
import { startTestCluster, type TestCluster } from '@patchbay/testing/cluster';
import type { TestNode, TestPlatform } from '@patchbay/testing/platform';
import { startTestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { revokeGrant } from '../../packages/server/src/store/tables/grants.ts';
import { createTokenKit } from '../authorization/tokens.ts';
import { callTool, post, rpc, startTool, toolError } from '../doors/wire.ts';
import { allEvents } from '../rest/event-stream.ts';
import { answeringAgent, rest } from '../rest/rest-client.ts';

/** Longer than any of these tests takes: what is answered before was ended, and says nothing of the agent. */
const LONG_MS = 5_000;

interface Place {
  readonly kind: string;
  start(): Promise<{ platform: TestPlatform; asked: TestNode; changing: TestNode }>;
}

const places: readonly Place[] = [
  {
    kind: 'one node',
    async start() {
      const platform = await startTestPlatform();
      return { platform, asked: platform, changing: platform };
    },
  },
  {
    kind: 'another node',
    async start() {
      const platform: TestCluster = await startTestCluster({ nodes: 2 });
      const [asked, changing] = platform.nodes as [TestNode, TestNode];
      return { platform, asked, changing };
    },
  },
];

describe.each(places)('a call that is open when its access is taken away, on $kind', ({ start }) => {
  let platform: TestPlatform;
  /** Where the call is open. */
  let asked: TestNode;
  /** Where somebody takes the access away. */
  let changing: TestNode;
  let ann: { readonly userId: string; readonly key: string };
  let keyId: string;
  let agentId: string;
  let count = 0;
  beforeAll(async () => {
    ({ platform, asked, changing } = await start());
  });
  afterAll(() => platform?.close());
  beforeEach(async () => {
    count += 1;
    agentId = `sleeper-${count}`;
    ann = await platform.addPerson(['patchbay-editor']);
    const [key] = await changing.platform.keys.list(ann.userId);
    keyId = key!.id;
    const file = answeringAgent(agentId, 'Awake.', { delay: LONG_MS });
    await createClient({ baseUrl: asked.url, token: ann.key, fetch }).call('deploy_agent_file', { file });
  });

  const message = { message: 'hello' };
  const revoke = () => changing.platform.keys.revoke(ann.userId, keyId);
  /** A turn of the agent is under way. */
  const atWork = () =>
    expect
      .poll(async () =>
        asked.platform.store.db
          .selectFrom('conversations')
          .select('id')
          .where('agent_id', '=', agentId)
          .where('lease_holder', 'is not', null)
          .executeTakeFirst(),
      )
      .toBeDefined();

  const refusedWith401 = expect.objectContaining({
    error: expect.objectContaining({ code: 401, data: expect.objectContaining({ code: 'unauthorized' }) }),
  });

  it('at the agent door gets its one error on the stream, and the stream ends (attack 14)', async () => {
    const call = await startTool(asked.agentUrl(agentId), agentId, message, { key: ann.key });
    expect(call.status).toBe(200);
    await atWork();
    await revoke();
    expect((await call.answer).body).toEqual([refusedWith401]);
    expect((await rpc(asked.agentUrl(agentId), 'tools/list', {}, { key: ann.key })).status).toBe(401);
  });

  it('of a request that the SDK answers ends alike', async () => {
    const response = await fetch(asked.agentUrl(agentId), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ann.key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: agentId, arguments: message, unusual: true },
      }),
    });
    expect(response.status).toBe(200);
    await atWork();
    await revoke();
    const text = await response.text();
    expect(text).toContain('"code":401');
    expect(text).not.toContain('Awake.');
  });

  it('that answers one JSON is answered with 401', async () => {
    const call = callTool(asked.agentUrl(agentId), agentId, message, { key: ann.key });
    await atWork();
    await revoke();
    const { status, body } = await call;
    expect(status).toBe(401);
    expect(body).toEqual(refusedWith401);
  });

  it('of the stateless era ends alike', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    };
    const call = post(
      asked.agentUrl(agentId),
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: agentId, arguments: message, _meta: meta },
      },
      {
        key: ann.key,
        stream: true,
        headers: {
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': agentId,
        },
      },
    );
    await atWork();
    await revoke();
    expect((await call).body).toEqual([refusedWith401]);
  });

  it('ends its turn: nothing of it is done or said later', async () => {
    const call = await startTool(asked.agentUrl(agentId), agentId, message, { key: ann.key });
    await atWork();
    await revoke();
    await call.answer;
    await expect
      .poll(async () =>
        asked.platform.store.db
          .selectFrom('conversations')
          .select('id')
          .where('agent_id', '=', agentId)
          .where('lease_holder', 'is not', null)
          .execute(),
      )
      .toEqual([]);
  });

  it.each([
    ['a removed role', () => changing.platform.users.setRoles(ann.userId, ['patchbay-approver'])],
    ['a revoked key', () => revoke()],
  ])('at the operator door and on REST ends for %s', async (_, take) => {
    const chat = startTool(asked.operatorUrl, 'chat_with_agent', { agentId, ...message }, { key: ann.key });
    const invoked = rest(asked.url, 'POST', `/agents/${agentId}/invoke`, { key: ann.key, body: message });
    const task = await rest(asked.url, 'POST', `/agents/${agentId}/tasks`, { key: ann.key, body: message });
    const followed = await fetch(`${asked.url}/api/v1/tasks/${task.body.task_id}/events`, {
      headers: { authorization: `Bearer ${ann.key}`, accept: 'text/event-stream' },
    });
    expect(followed.status).toBe(200);
    const { answer } = await chat;
    await expect
      .poll(
        async () =>
          (
            await asked.platform.store.db
              .selectFrom('conversations')
              .select('id')
              .where('agent_id', '=', agentId)
              .where('lease_holder', 'is not', null)
              .execute()
          ).length,
      )
      .toBe(3);
    await take();
    expect((await answer).body).toEqual([refusedWith401]);
    expect((await invoked).status).toBe(401);
    const last = (await allEvents(followed)).slice(-2).map(({ data }) => data);
    expect(last).toMatchObject([{ type: 'error', error: { code: 'unauthorized' } }, {}]);
  });

  it('of a client that a person allowed ends when they take that back (attack 14)', async () => {
    const kit = await createTokenKit(platform);
    const grant = await kit.allow(ann.userId, { agentIds: [agentId] });
    const key = await kit.agentToken(grant);
    const call = await startTool(asked.agentUrl(agentId), agentId, message, { key });
    expect(call.status).toBe(200);
    await atWork();
    await changing.platform.store.commit(db => revokeGrant(db, { id: grant.id, at: Date.now() }));
    expect((await call.answer).body).toEqual([refusedWith401]);
  });

  it('of somebody who is shut out ends, whatever they came in with (attack 14)', async () => {
    const kit = await createTokenKit(platform);
    const grant = await kit.allow(ann.userId, { agentIds: [agentId] });
    const key = await kit.agentToken(grant);
    const calls = [
      await startTool(asked.agentUrl(agentId), agentId, message, { key }),
      await startTool(asked.agentUrl(agentId), agentId, message, { key: ann.key }),
    ];
    await atWork();
    await changing.platform.users.disable(ann.userId);
    for (const { answer } of calls) expect((await answer).body).toEqual([refusedWith401]);
  });

  it('of another credential goes on', async () => {
    const other = await platform.platform.keys.createUserKey(ann.userId, {
      name: 'other',
      scopes: ['agents'],
    });
    const call = await startTool(asked.agentUrl(agentId), agentId, message, { key: other.token });
    await atWork();
    const gone = await startTool(asked.agentUrl(agentId), agentId, message, { key: ann.key });
    await revoke();
    await gone.answer;
    const still = await Promise.race([call.answer, Promise.resolve('open')]);
    expect(still).toBe('open');
    await changing.platform.keys.revoke(ann.userId, other.record.id);
    expect((await call.answer).body).toEqual([refusedWith401]);
  });

  it('of an agent that is closed to MCP clients, or shared no more, ends (attack 14)', async () => {
    const bob = await platform.addPerson(['patchbay-user']);
    const owner = createClient({ baseUrl: changing.url, token: ann.key, fetch });
    await owner.call('share_agent', { agentId, with: `user:${bob.userId}` });
    const key = (
      await platform.platform.keys.createUserKey(bob.userId, {
        ...{ name: 'x', scopes: ['agents'], shared: true },
      })
    ).token;
    const theirs = await startTool(asked.agentUrl(agentId), agentId, message, { key });
    const own = await startTool(asked.agentUrl(agentId), agentId, message, { key: ann.key });
    await atWork();
    await owner.call('unshare_agent', { agentId, with: `user:${bob.userId}` });
    expect((await theirs.answer).body).toEqual([refusedWith401]);
    await owner.call('change_own_agent', { agentId, mcp_enabled: false });
    expect((await own.answer).body).toEqual([refusedWith401]);
  });

  it('leaves an entry of the audit trail', async () => {
    const call = await startTool(asked.agentUrl(agentId), agentId, message, { key: ann.key });
    await atWork();
    await revoke();
    await call.answer;
    const admin = createClient({ baseUrl: asked.url, token: platform.operatorKey, fetch });
    await expect
      .poll(async () => (await admin.call('list_audit_events', { limit: 50 })).events)
      .toContainEqual(
        expect.objectContaining({
          operation: 'access_refused',
          userId: ann.userId,
          subject: expect.objectContaining({
            door: 'agent',
            reason: 'access-ended',
            credential: keyId,
            agentId,
          }),
        }),
      );
  });

  it('or not: a role that was removed is gone for the next call of a key, in lists and in calls (attack 14)', async () => {
    const listed = async () =>
      (await rpc(asked.operatorUrl, 'tools/list', {}, { key: ann.key })).body.result.tools.map(
        ({ name }: { name: string }) => name,
      ) as string[];
    const refusedTool = async () =>
      toolError(await callTool(asked.operatorUrl, 'get_agent', { agentId }, { key: ann.key }))?.errorCode;
    expect([(await listed()).includes('get_agent'), await refusedTool()]).toEqual([true, undefined]);
    await changing.platform.users.setRoles(ann.userId, ['patchbay-viewer']);
    await expect.poll(listed, { interval: 2 }).not.toContain('get_agent');
    expect(await refusedTool()).toBe('FORBIDDEN');
    await changing.platform.users.setRoles(ann.userId, ['patchbay-editor']);
    await expect.poll(listed, { interval: 2 }).toContain('get_agent');
  });

  it('has a session that nobody takes any more', async () => {
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    const opened = await rpc(asked.agentUrl(agentId), 'initialize', hello, { key: ann.key });
    const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id')! };
    const list = async (key: string) =>
      (await rpc(asked.agentUrl(agentId), 'tools/list', {}, { key, headers })).status;
    expect(await list(ann.key)).toBe(200);
    await revoke();
    await expect.poll(() => list(ann.key), { interval: 2 }).toBe(401);
    const next = await platform.platform.keys.createUserKey(ann.userId, { name: 'next', scopes: ['agents'] });
    expect(await list(next.token)).toBe(404);
  });
});
