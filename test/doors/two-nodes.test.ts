import { createClient } from '@patchbay/contract/client';
import { startTestCluster, type TestCluster } from '@patchbay/testing/cluster';
import type { TestNode } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, post, rpc, startTool } from './wire.ts';

// What the doors do for their callers is tested on two nodes in the file of each door. Here each node is spoken to by itself.

let cluster: TestCluster;
let one: TestNode;
let other: TestNode;
beforeAll(async () => {
  cluster = await startTestCluster({ nodes: 2 });
  [one, other] = cluster.nodes as [TestNode, TestNode];
});
afterAll(() => cluster?.close());

/** The demo agent takes 1.6 seconds for it, in four bubbles. */
const SLOW = 'show progress';

const talk = (node: TestNode, args: Record<string, unknown>, options: Parameters<typeof callTool>[3] = {}) =>
  callTool(node.agentUrl('demo'), 'demo', args, { key: cluster.operatorKey, ...options });
const begin = (node: TestNode, args: Record<string, unknown>) =>
  startTool(node.agentUrl('demo'), 'demo', args, { key: cluster.operatorKey });
const rest = (node: TestNode) => createClient({ baseUrl: node.url, token: node.ownerToken, fetch });

describe('two nodes behind a proxy without stickiness', () => {
  it('share the requests', async () => {
    const counted = async (node: TestNode) => {
      const response = await fetch(`${node.url}/metrics`, {
        headers: { authorization: `Bearer ${cluster.operatorKey}` },
      });
      const [, count] = /patchbay_http_requests_total\{door="operator",status="200"\} (\d+)/.exec(
        await response.text(),
      ) ?? ['', '0'];
      return Number(count);
    };
    const before = [await counted(one), await counted(other)] as const;
    for (let count = 0; count < 6; count += 1) {
      const { status } = await rpc(cluster.operatorUrl, 'tools/list', {}, { key: cluster.operatorKey });
      expect(status).toBe(200);
    }
    expect([await counted(one), await counted(other)]).toEqual([before[0] + 3, before[1] + 3]);
  });

  it('serve the sessions of each other, with their progress', async () => {
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    };
    const options = { key: cluster.operatorKey };
    const opened = await rpc(one.agentUrl('demo'), 'initialize', hello, options);
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id')! };
    const ready = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect((await post(other.agentUrl('demo'), ready, { ...options, headers: session })).status).toBe(202);
    const params = { name: 'demo', arguments: { message: SLOW }, _meta: { progressToken: 'p' } };
    const answer = await rpc(other.agentUrl('demo'), 'tools/call', params, {
      ...options,
      headers: session,
      stream: true,
    });
    const progress = answer.body.slice(0, -1);
    expect(progress.map((message: { params: unknown }) => message.params)).toMatchObject(
      [1, 2, 3, 4].map(step => ({ progressToken: 'p', progress: step })),
    );
    expect(answer.body.at(-1)).toHaveProperty('result.structuredContent.context_id');
  });

  it('run one idempotency key once: 409 while it is in flight on the other node, then its answer from there (B-66, B-83)', async () => {
    const args = { message: SLOW, idempotency_key: 'once on both' };
    const running = await begin(one, args);
    expect(running.status).toBe(200);
    const during = await talk(other, args);
    expect(during.status).toBe(409);
    expect(during.body.error.message).toContain('duplicate idempotency key');
    const { result } = (await running.answer).body.at(-1);
    expect((await talk(other, args)).body.result).toEqual(result);
    const different = await talk(other, { ...args, message: 'something else' });
    expect(different.body.error).toMatchObject({
      code: 409,
      message: expect.stringContaining('other arguments'),
    });
  });

  it('let one of several equal calls at once run, whichever node they reach (B-66)', async () => {
    const args = { message: SLOW, idempotency_key: 'a race' };
    const calls = await Promise.all([one, other, one, other, one, other].map(node => talk(node, args)));
    expect(calls.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
  });

  it('refuse a revoked key at every door, as soon as news of it arrives, whichever node revoked it (B-23)', async () => {
    for (const [revoking, node] of [
      [one, other],
      [other, one],
    ] as const) {
      const { id, key } = await rest(node).call('create_key', {
        name: 'short-lived',
        scopes: ['agents', 'operator'],
      });
      const statuses = async () => [
        (await rpc(node.agentUrl('demo'), 'tools/list', {}, { key })).status,
        (await rpc(node.operatorUrl, 'tools/list', {}, { key })).status,
        (await fetch(`${node.url}/api/v1/discovery`, { headers: { authorization: `Bearer ${key}` } })).status,
      ];
      expect(await statuses()).toEqual([200, 200, 200]);
      await rest(revoking).call('revoke_key', { keyId: id });
      await expect.poll(statuses, { interval: 2 }).toEqual([401, 401, 401]);
    }
  });

  it('keep a conversation to one message at a time, whichever node has it', async () => {
    const opening = await talk(one, { message: 'hello' });
    const { context_id } = opening.body.result.structuredContent;
    const running = await begin(one, { message: SLOW, context_id });
    const during = await talk(other, { message: 'not now', context_id });
    expect(during.status).toBe(409);
    expect(during.body.error.data.code).toBe('conflict');
    expect(await rest(other).call('read_conversation', { conversationId: context_id })).toMatchObject({
      conversationState: 'IN_PROGRESS',
    });
    await running.answer;
    expect((await talk(other, { message: 'now', context_id })).status).toBe(200);
    const { log } = await rest(one).call('read_conversation_log', { conversationId: context_id });
    expect(log).toMatch(/User: show progress[\s\S]*User: now/);
    expect(log).not.toContain('not now');
  });

  it('answer as the agent that was deployed last, whichever node took it', async () => {
    for (const [taking, node] of [
      [one, other],
      [other, one],
    ] as const) {
      for (const text of ['first', 'second']) {
        const answer = { valueAlternatives: [{ type: 'text', text }] };
        await rest(taking).call('deploy_agent_file', {
          file: {
            agent: 'served-by-both',
            name: 'Served by both',
            mcp_enabled: true,
            rules: {
              behaviorGroups: [
                { name: 'all', rules: [{ name: 'answer', actions: ['answer'], conditions: [] }] },
              ],
            },
            output: { outputSet: [{ action: 'answer', outputs: [answer] }] },
          },
        });
        const { body } = await callTool(
          node.agentUrl('served-by-both'),
          'served-by-both',
          { message: 'hello' },
          { key: cluster.operatorKey },
        );
        expect(body.result.content[0].text).toBe(text);
      }
    }
  });

  it('know their own local owner only', async () => {
    const list = (node: TestNode, key: string) => rpc(node.operatorUrl, 'tools/list', {}, { key });
    expect((await list(one, one.ownerToken)).status).toBe(200);
    expect((await list(other, other.ownerToken)).status).toBe(200);
    expect((await list(other, one.ownerToken)).status).toBe(401);
  });
});
