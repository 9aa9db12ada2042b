import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { deleteDeploymentsOf } from '../../packages/server/src/store/tables/deployments.ts';
import { platforms } from '../doors/platforms.ts';
import { callTool } from '../doors/wire.ts';
import { allEvents, eventsOf, type SentEvent } from './event-stream.ts';
import { agentsKey, answeringAgent, type RestOptions, rest } from './rest-client.ts';

/** The demo agent takes 1.6 seconds for it, in four bubbles. */
const SLOW = 'show progress';
const QUESTION = 'How do I connect a client?';

describe.each(platforms)('conversations on REST of $kind', ({ start }) => {
  let platform: TestPlatform;
  let key: string;
  let stranger: string;
  beforeAll(async () => {
    platform = await start();
    key = await agentsKey(platform);
    stranger = await agentsKey(platform, (await platform.addPerson(['patchbay-admin'])).userId);
  });
  afterAll(() => platform?.close());

  const ask = (method: string, path: string, options: Partial<RestOptions> = {}) =>
    rest(platform.url, method, `/agents/demo/conversations${path}`, { key, ...options });
  const open = async (body: Record<string, unknown> = {}) =>
    (await ask('POST', '', { body })).body.conversation_id as string;
  const post = (id: string, body: Record<string, unknown>) => ask('POST', `/${id}/messages`, { body });
  const log = async (id: string, since = 0) =>
    (await ask('GET', `/${id}/messages?since=${since}`)).body.messages as Record<string, never>[];
  const replies = async (id: string) => (await log(id)).filter(({ type }) => type === 'agent_reply');
  const events = (id: string, since?: number) =>
    fetch(
      `${platform.url}/api/v1/agents/demo/conversations/${id}/events${since === undefined ? '' : `?since=${since}`}`,
      { headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' } },
    );
  const mcp = (args: Record<string, unknown>) => callTool(platform.agentUrl('demo'), 'demo', args, { key });

  it('are opened with a greeting, and go on at the agent door (B-70)', async () => {
    const opened = await ask('POST', '', { body: { title: 'Mine', metadata: { ticket: 'T-1' } } });
    expect(opened.status).toBe(201);
    expect(opened.body).toMatchObject({
      conversation_id: expect.stringMatching(/^conv_[a-z2-7]{26}$/),
      agent_id: 'demo',
      title: 'Mine',
      metadata: { ticket: 'T-1' },
      state: 'open',
    });
    const id = opened.body.conversation_id;
    expect(await log(id)).toMatchObject([
      { type: 'agent_reply', offset: 1, body: expect.stringMatching(/demo agent/) },
    ]);
    const there = await mcp({ message: QUESTION, context_id: id });
    expect(there.body.result.structuredContent.context_id).toBe(id);
    const messages = await log(id);
    expect(messages.slice(1)).toMatchObject([
      { type: 'chat_message', body: QUESTION },
      {
        type: 'agent_reply',
        body: there.body.result.content[0].text,
        in_reply_to: messages[1]!.message_id,
      },
    ]);
    expect((await ask('GET', `/${id}`)).body).toMatchObject({ title: 'Mine', state: 'open' });
    const listed = (await ask('GET', '?limit=1')).body.conversations;
    expect(listed).toMatchObject([{ conversation_id: id }]);
  });

  it('take messages at once and answer them in the background, byte for byte as the agent door (B-65)', async () => {
    const id = await open();
    const { status, body } = await post(id, { message: QUESTION });
    expect(status).toBe(202);
    expect(body).toEqual({ message_id: expect.stringMatching(/^msg_/), created_at: expect.any(Number) });
    await expect.poll(async () => (await replies(id)).length, { timeout: 10_000 }).toBe(2);
    const reply = (await replies(id)).at(-1)!;
    const there = (await mcp({ message: QUESTION })).body.result.content[0].text;
    expect(reply).toMatchObject({ body: there, in_reply_to: body.message_id, state: 'completed' });
  });

  it('answer one message after the other, in their order', async () => {
    const id = await open();
    const said = ['first', SLOW, 'third', 'fourth'];
    const posted = [];
    for (const message of said) posted.push((await post(id, { message })).body.message_id);
    await expect.poll(async () => (await replies(id)).length, { timeout: 15_000 }).toBe(5);
    expect((await replies(id)).slice(1).map(reply => reply.in_reply_to)).toEqual(posted);
    const operator = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    const whole = await operator.call('read_conversation_log', { conversationId: id });
    expect([...whole.log.matchAll(/^User: (.*)$/gm)].map(([, text]) => text)).toEqual(said);
  });

  it('are followed by events, from whichever surface they come, with offsets that grow', async () => {
    const id = await open();
    const seen: SentEvent[] = [];
    const stream = await events(id);
    await post(id, { message: QUESTION });
    for await (const event of eventsOf(stream)) {
      seen.push(event);
      if (seen.length === 3) void mcp({ message: 'from the door', context_id: id });
      if (seen.length === 5) break;
    }
    expect(seen.map(({ data }) => data.type)).toEqual([
      'agent_reply',
      'chat_message',
      'agent_reply',
      'chat_message',
      'agent_reply',
    ]);
    const offsets = seen.map(({ data }) => data.offset);
    expect(offsets).toEqual([...new Set(offsets)].toSorted((a: number, b: number) => a - b));
    expect(await log(id)).toEqual(seen.map(({ data }) => data));
    const again: SentEvent[] = [];
    for await (const event of eventsOf(await events(id, offsets[2]))) {
      again.push(event);
      if (again.length === 2) break;
    }
    expect(again.map(({ data }) => data)).toEqual(seen.slice(3).map(({ data }) => data));
  });

  it('are closed on every surface, and end their streams', async () => {
    const id = await open();
    const stream = events(id).then(allEvents);
    expect((await ask('DELETE', `/${id}`)).status).toBe(204);
    expect((await ask('DELETE', `/${id}`)).status).toBe(204);
    expect((await stream).at(-1)).toMatchObject({
      name: 'end',
      data: { type: 'end', reason: 'channel_closed' },
    });
    expect((await ask('GET', `/${id}`)).body).toMatchObject({
      state: 'closed',
      closed_at: expect.any(Number),
    });
    expect(await log(id)).toHaveLength(1);
    for (const answer of [await post(id, { message: 'x' }), await mcp({ message: 'x', context_id: id })])
      expect(answer.status).toBe(409);
  });

  it('are not closed while they are busy', async () => {
    const id = await open();
    await post(id, { message: SLOW });
    const operator = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    await expect
      .poll(async () => (await operator.call('read_conversation', { conversationId: id })).conversationState)
      .toBe('IN_PROGRESS');
    const busy = await ask('DELETE', `/${id}`);
    expect([busy.status, busy.body.error.code]).toEqual([409, 'conflict']);
    await expect.poll(async () => (await replies(id)).length, { timeout: 10_000 }).toBe(2);
    expect((await ask('DELETE', `/${id}`)).status).toBe(204);
  });

  it('that their agent has ended are closed', async () => {
    const id = await open();
    await mcp({ message: 'bye', context_id: id });
    expect((await ask('GET', `/${id}`)).body.state).toBe('closed');
    expect((await post(id, { message: 'x' })).status).toBe(409);
    expect((await allEvents(await events(id))).at(-1)!.data.reason).toBe('channel_closed');
  });

  it('take one message for one idempotency key', async () => {
    const id = await open();
    const body = { message: QUESTION, idempotency_key: 'once' };
    const made = await Promise.all([post(id, body), post(id, body), post(id, body)]);
    expect(new Set(made.map(answer => answer.body.message_id)).size).toBe(1);
    expect((await post(id, { ...body, message: 'x' })).status).toBe(409);
    await expect.poll(async () => (await replies(id)).length, { timeout: 10_000 }).toBe(2);
    expect((await mcp({ ...body, context_id: id })).body.result.content[0].text).toBe(
      (await replies(id)).at(-1)!.body,
    );
    expect((await log(id)).filter(({ type }) => type === 'chat_message')).toHaveLength(1);
  });

  it('say in their log what came of a message that failed', async () => {
    const { store } = platform.platform;
    const file = answeringAgent('short-lived', 'Yes.');
    await rest(platform.url, 'POST', '/agent-files', { key: platform.operatorKey, body: { file } });
    const at = '/agents/short-lived/conversations';
    const { conversation_id } = (await rest(platform.url, 'POST', at, { key, body: {} })).body;
    await store.commit(async db => {
      await deleteDeploymentsOf(db, 'short-lived');
    });
    const posted = await rest(platform.url, 'POST', `${at}/${conversation_id}/messages`, {
      key,
      body: { message: 'x' },
    });
    await expect
      .poll(async () =>
        (await rest(platform.url, 'GET', `${at}/${conversation_id}/messages`, { key })).body.messages.at(-1),
      )
      .toMatchObject({
        type: 'agent_reply_error',
        state: 'failed',
        in_reply_to: posted.body.message_id,
        payload: { code: 'agent_service_unavailable' },
      });
  });

  it('answer what was said behind a message that waits for an approval once that is decided', async () => {
    const id = await open();
    const waiting = (await post(id, { message: 'Ask a person first' })).body.message_id;
    const behind = (await post(id, { message: QUESTION })).body.message_id;
    const operator = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    const state = async () =>
      (await operator.call('read_conversation', { conversationId: id })).conversationState;
    await expect.poll(state, { timeout: 10_000 }).toBe('AWAITING_HUMAN');
    expect(await replies(id)).toHaveLength(1);
    await operator.call('resume_conversation', { conversationId: id, verdict: 'APPROVED' });
    await expect.poll(async () => (await replies(id)).length, { timeout: 15_000 }).toBe(3);
    expect((await replies(id)).slice(1).map(reply => reply.in_reply_to)).toEqual([waiting, behind]);
  }, 30_000);

  it('are for who opened them: others hear the words for what is nobody’s', async () => {
    const id = await open();
    const missing = `conv_${'a'.repeat(26)}`;
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['DELETE', '', undefined],
      ['GET', '/messages', undefined],
      ['GET', '/events', undefined],
      ['POST', '/messages', { message: 'x' }],
    ] as const) {
      const options = { key: stranger, ...(body && { body }) };
      const foreign = await ask(method, `/${id}${path}`, options);
      const unknown = await ask(method, `/${missing}${path}`, options);
      expect([foreign.status, foreign.body]).toEqual([unknown.status, unknown.body]);
      expect([foreign.status, foreign.body.error.code]).toEqual([403, 'forbidden']);
      expect((await ask(method, `/${id}${path}`, { ...options, key: null })).status).toBe(401);
    }
    // Begun elsewhere, it has no log.
    const elsewhere = (await mcp({ message: 'hello' })).body.result.structuredContent.context_id;
    expect((await ask('GET', `/${elsewhere}`)).status).toBe(403);
  });

  it('of another agent, tasks and what is no id are refused as no conversation with this one', async () => {
    const file = answeringAgent('another', 'Yes.');
    await rest(platform.url, 'POST', '/agent-files', { key: platform.operatorKey, body: { file } });
    const other = (await rest(platform.url, 'POST', '/agents/another/conversations', { key, body: {} })).body;
    for (const id of [
      other.conversation_id,
      `task_${'a'.repeat(26)}`,
      '..%2F..%2Fagents',
      'conv_%00',
      'x'.repeat(3_000),
    ]) {
      const answer = await ask('GET', `/${id}`);
      expect([400, 404]).toContain(answer.status);
      expect(['invalid_param', 'not_found']).toContain(answer.body.error.code);
    }
  });

  it.each([
    ['an empty title', '', { title: '' }],
    ['a long title', '', { title: 'x'.repeat(300) }],
    ['much metadata', '', { metadata: { a: 'x'.repeat(20_000) } }],
    ['an owner', '', { owner: 'root' }],
  ])('are not opened with %s', async (_name, path, body) => {
    expect((await ask('POST', path, { body })).status).toBe(400);
  });
});

describe('a conversation that cannot be opened', () => {
  it('leaves nothing behind', async () => {
    const platform = await startTestPlatform({ env: { PATCHBAY_TURN_TIMEOUT_SECONDS: '1' } });
    try {
      const key = await agentsKey(platform);
      const file = answeringAgent('late', 'Here I am.', { delay: 5_000 });
      await rest(platform.url, 'POST', '/agent-files', { key: platform.operatorKey, body: { file } });
      const at = '/agents/late/conversations';
      const opened = await rest(platform.url, 'POST', at, { key, body: { title: 'never' } });
      expect([opened.status, opened.body.error.code]).toEqual([504, 'service_timeout']);
      expect((await rest(platform.url, 'GET', at, { key })).body).toEqual({ count: 0, conversations: [] });
    } finally {
      await platform.close();
    }
  });
});

describe('the logs of conversations', () => {
  it('can be read for five minutes after they were closed', async () => {
    let now = Date.UTC(2027, 0, 1);
    const platform = await startTestPlatform({ overrides: { clock: { ...systemClock, now: () => now } } });
    try {
      const key = await agentsKey(platform);
      const at = '/agents/demo/conversations';
      const { conversation_id } = (await rest(platform.url, 'POST', at, { key, body: {} })).body;
      const status = async () =>
        (await rest(platform.url, 'GET', `${at}/${conversation_id}`, { key })).status;
      await rest(platform.url, 'DELETE', `${at}/${conversation_id}`, { key });
      now += 5 * 60_000 - 1;
      expect(await status()).toBe(200);
      now += 1;
      expect(await status()).toBe(403);
      expect((await rest(platform.url, 'GET', at, { key })).body.count).toBe(0);
    } finally {
      await platform.close();
    }
  });
});
