import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteEndedConversations } from '../../packages/server/src/store/tables/conversations.ts';
import { platforms } from '../doors/platforms.ts';
import { callTool, toolError } from '../doors/wire.ts';

let platform: TestPlatform;

interface AuditEvent {
  readonly seq: number;
  readonly userId: string;
  readonly via: string;
  readonly operation: string;
  readonly outcome: string;
  readonly subject: Record<string, unknown>;
}

async function rest(method: string, path: string, key: string, body?: object): Promise<Response> {
  return fetch(`${platform.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
}

async function get<T>(path: string, key = platform.operatorKey): Promise<T> {
  const response = await rest('GET', path, key);
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

const events = async () => (await get<{ events: AuditEvent[] }>('/audit/events?limit=1000')).events;

async function talk(message: string): Promise<string> {
  const { body } = await callTool(
    platform.operatorUrl,
    'chat_with_agent',
    { agentId: 'demo', message },
    { key: platform.operatorKey },
  );
  return body.result.structuredContent.conversationId;
}

describe.each(platforms)('the audit trail at the doors of $kind', ({ start, lacks }) => {
  beforeAll(async () => {
    platform = await start();
  });
  afterAll(() => platform?.close());

  describe('of a conversation', () => {
    it('is the flow "debugging": the log, then what each task did, through a stock client and REST (E-58)', async () => {
      const conversationId = await talk('hello');
      const client = new Client({ name: 'a stock client', version: '1' });
      await client.connect(
        new StreamableHTTPClientTransport(new URL(platform.operatorUrl), {
          requestInit: { headers: { authorization: `Bearer ${platform.operatorKey}` } },
        }),
      );
      const logs = await client.callTool({ name: 'read_agent_logs', arguments: { conversationId } });
      expect(logs.structuredContent).toEqual({ count: 0, limit: 50, conversationId, entries: [] });
      const trail = await client.callTool({ name: 'read_audit_trail', arguments: { conversationId } });
      await client.close();

      const { count, entries } = trail.structuredContent as {
        count: number;
        entries: Record<string, unknown>[];
      };
      expect(count).toBe(entries.length);
      // Newest first: the message, then the greeting, each with one entry a task.
      expect(entries.map(({ stepIndex, taskId }) => `${stepIndex} ${taskId}`)).toEqual([
        '1 templating',
        '1 output',
        '1 rules',
        '1 parser',
        '0 templating',
        '0 output',
        '0 rules',
        '0 parser',
      ]);
      expect(entries[3]).toMatchObject({
        conversationId,
        agentId: 'demo',
        agentVersion: 1,
        userId: platform.platform.owner.id,
        environment: 'production',
        taskType: 'parser',
        taskIndex: 0,
        durationMs: expect.any(Number),
        input: 'hello',
        timestamp: expect.any(Number),
        seq: 1,
        hmac: expect.stringMatching(/^[\w-]{43}$/),
      });
      expect(entries[1]).toMatchObject({ output: { output: expect.anything() }, actions: expect.anything() });
      expect(await get(`/conversations/${conversationId}/audit`)).toEqual(trail.structuredContent);
      const latest = await get<{ count: number; entries: unknown[] }>(
        `/conversations/${conversationId}/audit?limit=3`,
      );
      expect(latest).toMatchObject({ count: 3, entries: entries.slice(0, 3) });
    });

    it('keeps no secret that somebody said', async () => {
      const token = `oag_${'7'.repeat(64)}`;
      const conversationId = await talk(`my key is ${token}, password=hunter2hunter2`);
      const text = JSON.stringify(await get(`/conversations/${conversationId}/audit`));
      expect(text).toContain('my key is oag_[redacted]');
      expect(text).not.toContain('7777');
      expect(text).not.toContain('hunter2');
    });

    it('is for its owner, as a viewer, and for admins (E-58)', async () => {
      const conversationId = await talk('hello');
      const viewer = await platform.addPerson(['patchbay-viewer']);
      const read = (key: string) =>
        callTool(platform.operatorUrl, 'read_audit_trail', { conversationId }, { key });
      expect(toolError(await read(viewer.key))).toEqual({
        error: 'Access denied: you do not own this conversation.',
        errorCode: 'FORBIDDEN',
      });
      await platform.platform.store.db
        .updateTable('conversations')
        .set({ user_id: viewer.userId })
        .where('id', '=', conversationId)
        .execute();
      for (const { key } of [viewer, await platform.addPerson(['patchbay-admin'])]) {
        expect((await read(key)).body.result.structuredContent.count).toBe(8);
      }
      // It ends, and is deleted when its time is over.
      const { store } = platform.platform;
      await store.db
        .updateTable('conversations')
        .set({ state: 'ENDED', updated_at: 1 })
        .where('id', '=', conversationId)
        .execute();
      await store.commit(db => deleteEndedConversations(db, 2));
      expect(toolError(await read(viewer.key))).toMatchObject({ errorCode: 'NOT_FOUND' });
      expect((await read(platform.operatorKey)).body.result.structuredContent.count).toBe(8);
    });
  });

  describe('of the platform', () => {
    it('says who changed what, with ids and nothing that was written', async () => {
      const before = await events();
      const agent = {
        agent: 'parrot',
        name: 'a name nobody should find',
        rules: { behaviorGroups: [] },
        output: { outputSet: [] },
      };
      const deployed = await rest('POST', '/agent-files', platform.operatorKey, { file: agent });
      expect(await deployed.text()).toContain('parrot');
      const made = await events();
      expect(made.slice(0, made.length - before.length)).toMatchObject([
        {
          userId: platform.platform.owner.id,
          via: 'user-key',
          operation: 'deploy_agent_file',
          outcome: 'done',
          subject: { agentId: 'parrot', agentVersion: 1 },
        },
      ]);
      expect(JSON.stringify(made)).not.toContain('nobody should find');
    });

    it.skipIf(lacks('the token of the local owner'))(
      'says when a key was made or revoked, and never the key (B-44)',
      async () => {
        const answer = await rest('POST', '/agents/demo/keys', platform.ownerToken, { name: 'secret name' });
        const { id, key } = (await answer.json()) as { id: string; key: string };
        await rest('DELETE', `/api-keys/${id}`, platform.ownerToken);
        const [revoked, created] = await events();
        expect(created).toMatchObject({
          via: 'cli',
          operation: 'create_agent_key',
          subject: { agentId: 'demo', id },
        });
        expect(revoked).toMatchObject({ operation: 'revoke_key', subject: { keyId: id } });
        expect(JSON.stringify([revoked, created])).not.toContain(key.slice(4, 20));
        expect(JSON.stringify([revoked, created])).not.toContain('secret name');
      },
    );

    it('begins with what the first start has made', async () => {
      const all = await events();
      expect(all.slice(-2)).toMatchObject([
        { operation: 'deploy_agent_file', via: 'start', subject: { agentId: 'demo' }, seq: 2 },
        { operation: 'audit_begun', subject: { unchained: 0 }, seq: 1 },
      ]);
    });

    it('says who was refused, so that nobody can flood it', async () => {
      const viewer = await platform.addPerson(['patchbay-viewer']);
      for (let attempt = 0; attempt < 60; attempt += 1) {
        await callTool(platform.operatorUrl, 'list_agents', {}, { key: viewer.key });
      }
      const refused = (await events()).filter(({ userId }) => userId === viewer.userId);
      const most = lacks('the token of the local owner') ? 20 : 10;
      expect(refused).toHaveLength(most);
      expect(refused[0]).toMatchObject({
        ...{ operation: 'list_agents', outcome: 'refused', via: 'user-key' },
        subject: { reason: 'missing-role' },
      });
    });

    it('is for admins', async () => {
      const editor = await platform.addPerson(['patchbay-editor']);
      for (const path of ['/audit/events', '/audit/verification'])
        expect((await rest('GET', path, editor.key)).status, path).toBe(403);
    });
  });

  it('verifies over REST, and tells when somebody was at the tables', async () => {
    const conversationId = await talk('hello');
    const whole = await get<object>('/audit/verification');
    expect(whole).toMatchObject({ intact: true, breaks: [] });
    await platform.platform.store.db
      .updateTable('audit_records')
      .set({ entries: '[]' })
      .where('conversation_id', '=', conversationId)
      .where('seq', '=', 1)
      .execute();
    const found = { intact: false, breaks: [{ chain: conversationId, seq: 1, reason: 'changed' }] };
    expect(await get('/audit/verification')).toMatchObject(found);
    expect(await get(`/audit/verification?conversationId=${conversationId}`)).toMatchObject(found);
    expect(await get('/audit/verification?conversationId=conv_none')).toEqual({
      intact: true,
      chains: 0,
      entries: 0,
      breaks: [],
    });
  });
});
