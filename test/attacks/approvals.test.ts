import { createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { callTool, toolError } from '../doors/wire.ts';
import { callingAgent } from '../httpcalls/calling-agent.ts';
import { type FaultServer, startFaultServer } from '../httpcalls/fault-server.ts';
import { rest } from '../rest/rest-client.ts';

// attacks.md 51 to 54, against an agent that calls a server once a person has approved.

const PAYER = 'payer';

describe.each(platforms)('an approval at $kind', ({ start }) => {
  let platform: TestPlatform;
  let server: FaultServer;
  beforeAll(async () => {
    platform = await start({ env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
  });
  afterAll(() => platform?.close());
  beforeEach(async () => {
    server = await startFaultServer();
    await deploy();
  });
  afterEach(() => server?.[Symbol.asyncDispose]());

  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything, tests look into it
  async function tool(name: string, args: Record<string, unknown>, key = platform.operatorKey): Promise<any> {
    const { body } = await callTool(platform.operatorUrl, name, args, { key });
    expect(body.result?.isError, JSON.stringify(body)).toBeUndefined();
    return body.result.structuredContent;
  }
  const client = () => createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  const deploy = (changes?: Parameters<typeof payer>[1]) =>
    client().call('deploy_agent_file', { file: payer(server.url, changes) });
  const errorOf = async (name: string, args: Record<string, unknown>, key = platform.operatorKey) =>
    toolError(await callTool(platform.operatorUrl, name, args, { key }));
  const wait = async () => {
    const { conversationId, status } = await tool('chat_with_agent', { agentId: PAYER, message: 'pay' });
    expect(status).toBe('PAUSED_FOR_APPROVAL');
    return conversationId as string;
  };
  const approve = (conversationId: string, more: object = {}) => ({
    conversationId,
    verdict: 'APPROVED',
    ...more,
  });
  const read = (conversationId: string) => tool('read_conversation', { conversationId });
  const settled = async (conversationId: string) => {
    const state = async () => (await read(conversationId)).conversationState;
    await expect.poll(state, { timeout: 20_000 }).not.toBe('IN_PROGRESS');
    return read(conversationId);
  };
  const isOpen = async (conversationId: string) => {
    expect(await tool('get_approval_status', { conversationId })).toMatchObject({ state: 'AWAITING_HUMAN' });
    expect(server.requests).toEqual([]);
  };

  it('attack 51: of an agent that is changed while it waits is for what was shown, not for what the agent is now', async () => {
    const conversationId = await wait();
    const before = await tool('get_approval_status', { conversationId });
    // The same agent, calling something else and deciding by itself.
    await deploy({
      path: '/ok/stolen',
      hitlConfig: { timeoutPolicy: 'AUTO_APPROVE', approvalTimeout: 'PT1S' },
    });
    expect(await tool('get_approval_status', { conversationId })).toEqual(before);
    await tool('resume_conversation', approve(conversationId, { pauseId: before.pauseId }));
    expect(await settled(conversationId)).toMatchObject({ conversationState: 'READY' });
    expect(server.requests.map(({ path }) => path)).toEqual(['/later/pay']);
  });

  it('attack 51: of an agent that was deleted meanwhile does nothing', async () => {
    const conversationId = await wait();
    await tool('delete_agent', { agentId: PAYER, version: 0, permanent: true, cascade: true });
    await tool('resume_conversation', approve(conversationId));
    expect(await settled(conversationId)).toMatchObject({ conversationState: 'ERROR' });
    expect(server.requests).toEqual([]);
  });

  it('attack 51: for another pause than the one that was looked at is refused', async () => {
    const conversationId = await wait();
    const { pauseId } = await tool('get_approval_status', { conversationId });
    await tool('resume_conversation', { conversationId, verdict: 'REJECTED', pauseId });
    await settled(conversationId);
    await tool('talk_to_agent', { agentId: PAYER, conversationId, message: 'pay' });
    expect(await errorOf('resume_conversation', approve(conversationId, { pauseId }))).toMatchObject({
      errorCode: 'PAUSE_CHANGED',
    });
    await isOpen(conversationId);
  });

  it('attack 51: by a key that was revoked meanwhile is refused', async () => {
    const conversationId = await wait();
    const { keys, owner } = platform.platform;
    const minted = await keys.createUserKey(owner.id, { name: 'short', scopes: ['operator'] });
    const options = { key: minted.token };
    const call = () =>
      callTool(platform.operatorUrl, 'resume_conversation', approve(conversationId), options);
    await callTool(platform.operatorUrl, 'get_approval_status', { conversationId }, options);
    await client().call('revoke_key', { keyId: minted.record.id });
    expect((await call()).status).toBe(401);
    await isOpen(conversationId);
  });

  it('attack 52: counts once, and not after it was cancelled', async () => {
    const conversationId = await wait();
    await tool('resume_conversation', approve(conversationId));
    expect(await errorOf('resume_conversation', approve(conversationId))).toMatchObject({
      errorCode: 'WRONG_STATE',
    });
    await settled(conversationId);
    expect(await errorOf('resume_conversation', approve(conversationId))).toMatchObject({
      errorCode: 'WRONG_STATE',
      details: { currentState: 'READY' },
    });
    expect(server.requests).toHaveLength(1);

    const cancelled = await wait();
    await tool('cancel_conversation', { conversationId: cancelled });
    expect(await errorOf('resume_conversation', approve(cancelled))).toMatchObject({
      errorCode: 'WRONG_STATE',
      details: { currentState: 'EXECUTION_INTERRUPTED' },
    });
    expect(server.requests).toHaveLength(1);
  });

  it('attack 52: comes too late when the time is over', async () => {
    for (const [timeoutPolicy, currentState] of [
      ['AUTO_REJECT', 'READY'],
      ['ABORT', 'EXECUTION_INTERRUPTED'],
    ]) {
      await deploy({ hitlConfig: { timeoutPolicy, approvalTimeout: 'PT1S' } });
      const conversationId = await wait();
      const state = async () => (await read(conversationId)).conversationState;
      await expect.poll(state, { timeout: 20_000 }).toBe(currentState);
      expect(await errorOf('resume_conversation', approve(conversationId))).toMatchObject({
        errorCode: 'WRONG_STATE',
        details: { currentState },
      });
    }
    expect(server.requests).toEqual([]);
  });

  it('attack 52: by a stranger is refused in the words for everything foreign', async () => {
    const conversationId = await wait();
    const stranger = await platform.addPerson(['patchbay-user']);
    for (const name of ['resume_conversation', 'cancel_conversation', 'get_approval_status']) {
      const args = name === 'resume_conversation' ? approve(conversationId) : { conversationId };
      const error = await errorOf(name, args, stranger.key);
      expect(error).toMatchObject({ errorCode: 'FORBIDDEN' });
      expect(JSON.stringify(error)).not.toContain(platform.platform.owner.id);
    }
    const { approvals } = await tool('list_pending_approvals', {}, stranger.key);
    expect(approvals).toEqual([]);
    // The agent's own key opens its door and decides nothing.
    const path = `/conversations/${conversationId}/resume`;
    const body = approve(conversationId);
    expect(await rest(platform.url, 'POST', path, { key: platform.agentKey, body })).toMatchObject({
      status: 401,
    });
    await isOpen(conversationId);
  });

  it('attack 52: by a page of somebody else is refused, whatever it may send', async () => {
    const conversationId = await wait();
    const path = `/conversations/${conversationId}/resume`;
    const body = { verdict: 'APPROVED' };
    const origin = 'https://evil.example';
    const key = platform.operatorKey;
    const { ownerToken } = platform;
    for (const [options, status] of [
      [{ key, body, headers: { origin } }, 403],
      // What a form can send: no preflight, no header of its own.
      [{ key: null, raw: JSON.stringify(body), headers: { origin, 'content-type': 'text/plain' } }, 403],
      [
        {
          key: null,
          raw: 'verdict=APPROVED',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        },
        401,
      ],
      // The token of the command line is for the command line.
      [{ key: ownerToken, body, headers: { origin: platform.url } }, 401],
      [{ key: ownerToken, body, headers: { 'x-forwarded-for': '127.0.0.1' } }, 401],
    ] as const) {
      expect((await rest(platform.url, 'POST', path, options)).status, JSON.stringify(options)).toBe(status);
    }
    const args = approve(conversationId);
    const headers = { origin };
    const asked = await callTool(platform.operatorUrl, 'resume_conversation', args, { key, headers });
    expect(asked.status).toBe(403);
    await isOpen(conversationId);
  });

  it('attack 54: given by a hundred at once does its work once', async () => {
    const conversationId = await wait();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        index % 2 === 0
          ? callTool(platform.operatorUrl, 'resume_conversation', approve(conversationId), {
              key: platform.operatorKey,
            }).then(({ body }) => body.result.isError !== true)
          : rest(platform.url, 'POST', `/conversations/${conversationId}/resume`, {
              key: platform.operatorKey,
              body: { verdict: 'APPROVED' },
            }).then(({ status }) => status === 200),
      ),
    );
    expect(answers.filter(Boolean)).toHaveLength(1);
    expect(await settled(conversationId)).toMatchObject({ conversationState: 'READY' });
    expect(server.requests).toHaveLength(1);
  });
});

function payer(url: string, changes: { path?: string; hitlConfig?: object } = {}) {
  const { path = '/later/pay', hitlConfig } = changes;
  return {
    ...callingAgent(PAYER, url, [{ name: 'pay', actions: ['pay'], request: { method: 'POST', path } }]),
    ...(hitlConfig && { hitlConfig }),
    rules: {
      expressionsAsActions: true,
      behaviorGroups: [
        {
          name: 'ask',
          rules: [
            {
              name: 'ask',
              actions: ['speak', 'PAUSE_CONVERSATION'],
              conditions: [{ type: 'inputmatcher', configs: { expressions: 'pay' } }],
            },
          ],
        },
      ],
    },
  };
}
