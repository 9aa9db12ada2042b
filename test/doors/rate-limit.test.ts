import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterEach, describe, expect, it } from 'vitest';
import { callTool, post, rpc, type WireOptions } from './wire.ts';

let platform: TestPlatform;
afterEach(() => platform?.close());

/** A platform where each credential has five calls a minute at each agent. */
async function start(rate = '5'): Promise<void> {
  platform = await startTestPlatform({ env: { PATCHBAY_AGENT_DOOR_RATE: rate } });
}

const call = (args: Record<string, unknown> = { message: 'hello' }, options: WireOptions = {}) =>
  callTool(platform.agentUrl('demo'), 'demo', args, { key: platform.agentKey, ...options });

async function useUp(): Promise<void> {
  for (let count = 0; count < 5; count += 1) expect((await call()).status).toBe(200);
}

describe('too many calls within a minute', () => {
  it('are refused in the usual error form, without Retry-After, to plain and streaming callers (B-74)', async () => {
    await start();
    await useUp();
    for (const options of [{}, { stream: true }, { headers: { 'mcp-protocol-version': '2025-11-25' } }]) {
      const answer = await call(undefined, options);
      expect(answer.status).toBe(429);
      expect(answer.body).toEqual({
        jsonrpc: '2.0',
        id: 1,
        error: {
          code: 429,
          message: 'Too many calls of this agent within a minute; try again later.',
          data: { code: 'rate_limited' },
        },
      });
      expect(answer.headers.get('retry-after')).toBeNull();
    }
  });

  it('are counted for each credential and each agent, not for an address (B-73)', async () => {
    await start();
    const owner = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
    const { key: second } = await owner.call('create_agent_key', { agentId: 'demo', name: 'second' });
    const everywhere = platform.operatorKey;
    const other = {
      agent: 'other',
      name: 'Other',
      mcp_enabled: true,
      rules: {
        behaviorGroups: [{ name: 'all', rules: [{ name: 'answer', actions: ['answer'], conditions: [] }] }],
      },
      output: {
        outputSet: [
          { action: 'answer', outputs: [{ valueAlternatives: [{ type: 'text', text: 'Hello.' }] }] },
        ],
      },
    };
    await owner.call('deploy_agent_file', { file: other });
    await useUp();
    expect((await call()).status).toBe(429);
    expect((await call(undefined, { key: second })).status).toBe(200);
    for (let count = 0; count < 5; count += 1) {
      expect((await call(undefined, { key: everywhere })).status).toBe(200);
    }
    expect((await call(undefined, { key: everywhere })).status).toBe(429);
    const elsewhere = await callTool(
      platform.agentUrl('other'),
      'other',
      { message: 'hello' },
      { key: everywhere },
    );
    expect(elsewhere.status).toBe(200);
    // The operator door has no such limit.
    const operator = await callTool(platform.operatorUrl, 'list_agents', {}, { key: everywhere });
    expect(operator.status).toBe(200);
  });

  it('are the calls: the handshake, lists and pings are free', async () => {
    await start();
    for (let count = 0; count < 20; count += 1) {
      for (const method of ['tools/list', 'ping']) {
        const answer = await rpc(platform.agentUrl('demo'), method, {}, { key: platform.agentKey });
        expect(answer.status).toBe(200);
      }
    }
    await useUp();
    expect((await rpc(platform.agentUrl('demo'), 'tools/list', {}, { key: platform.agentKey })).status).toBe(
      200,
    );
  });

  it('count also where a call is refused for something else', async () => {
    await start();
    for (const args of [
      {},
      { message: '' },
      { message: 'hi', context_id: 'x' },
      { message: 'hi', attachments: [1] },
    ]) {
      expect((await call(args)).status).toBe(400);
    }
    expect((await call()).status).toBe(200);
    expect((await call()).status).toBe(429);
  });

  it('count each entry of a batch', async () => {
    await start();
    const entry = (id: number) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'demo', arguments: { message: 'hello' } },
    });
    const batch = Array.from({ length: 7 }, (_, id) => entry(id));
    const headers = { 'mcp-protocol-version': '2025-03-26' };
    const { status, body } = await post(platform.agentUrl('demo'), batch, {
      key: platform.agentKey,
      headers,
    });
    expect(status).toBe(200);
    expect(body.filter((answer: object) => 'result' in answer)).toHaveLength(5);
    const refused = body.filter((answer: object) => 'error' in answer);
    expect(refused.map(({ error }: { error: { data: unknown } }) => error.data)).toEqual([
      { code: 'rate_limited' },
      { code: 'rate_limited' },
    ]);
  });

  it('are refused before anything is claimed: neither conversation nor idempotency key is touched', async () => {
    await start();
    const { body } = await call();
    const { context_id } = body.result.structuredContent;
    for (let count = 0; count < 4; count += 1) await call();
    const refused = await call({ message: 'hello', context_id, idempotency_key: 'mine' });
    expect(refused.status).toBe(429);
    const { db } = platform.platform.store;
    expect(await db.selectFrom('idempotency_keys').selectAll().execute()).toEqual([]);
    const conversations = await db
      .selectFrom('conversations')
      .select(['lease_holder', 'step_count'])
      .execute();
    expect(conversations).toHaveLength(5);
    expect(conversations.filter(({ lease_holder }) => lease_holder !== null)).toEqual([]);
  });

  it('are seen by the operator: a metric, and a line that names the credential', async () => {
    await start('1');
    await call();
    await call();
    const response = await fetch(`${platform.url}/metrics`, {
      headers: { authorization: `Bearer ${platform.operatorKey}` },
    });
    expect(await response.text()).toContain('patchbay_rate_limited_total{agent="demo"} 1');
    const line = platform.logLines().find(({ message }) => message === 'too many calls of one credential');
    expect(line).toMatchObject({
      level: 'info',
      agentId: 'demo',
      credential: expect.stringMatching(/^key_/),
    });
    expect(JSON.stringify(line)).not.toContain(platform.agentKey);
  });

  it('do not exist where the rate is 0', async () => {
    await start('0');
    for (let count = 0; count < 130; count += 1) expect((await call()).status).toBe(200);
  });
});
