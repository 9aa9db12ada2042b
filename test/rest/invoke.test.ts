import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { callTool, startTool } from '../doors/wire.ts';
import { allEvents, eventsOf } from './event-stream.ts';
import { agentsKey, answeringAgent, type RestOptions, rest } from './rest-client.ts';

/** The demo agent takes 1.6 seconds for it, in four bubbles. */
const SLOW = 'show progress';

describe.each(platforms)('invoke on REST of $kind', ({ start }) => {
  let platform: TestPlatform;
  /** Of the owner, with the scope `agents` only: it opens both surfaces. */
  let key: string;
  beforeAll(async () => {
    platform = await start();
    key = await agentsKey(platform);
  });
  afterAll(() => platform?.close());

  const invoke = (body: Record<string, unknown>, options: Partial<RestOptions> = {}) =>
    rest(platform.url, 'POST', '/agents/demo/invoke', { key, body, ...options });
  const stream = (body: Record<string, unknown>) =>
    fetch(`${platform.url}/api/v1/agents/demo/invoke`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify(body),
    });
  const mcp = (args: Record<string, unknown>) => callTool(platform.agentUrl('demo'), 'demo', args, { key });

  it.each(['How do I connect a client?', SLOW, 'nobody knows this', 'What are your hours? ☕'])(
    'answers byte for byte what the agent door answers: %s (B-65)',
    async message => {
      const there = (await mcp({ message })).body.result;
      const here = await invoke({ message });
      expect(here.status).toBe(200);
      expect(here.body).toEqual({
        success: true,
        data: {
          text: there.content[0].text,
          context_id: expect.stringMatching(/^conv_[a-z2-7]{26}$/),
          is_error: false,
        },
      });
      const streamed = await allEvents(await stream({ message }));
      expect(streamed.at(-1)!.data.data.text).toBe(there.content[0].text);
    },
  );

  it('goes on with conversations of the agent door, which goes on with its own (B-65, B-70)', async () => {
    const begun = (await mcp({ message: 'hello' })).body.result.structuredContent.context_id;
    const here = await invoke({ message: 'and again', context_id: begun });
    expect(here.body.data.context_id).toBe(begun);
    const fresh = (await invoke({ message: 'hello' })).body.data.context_id;
    const there = await mcp({ message: 'and again', context_id: fresh });
    expect(there.body.result.structuredContent.context_id).toBe(fresh);
    const operator = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    for (const conversationId of [begun, fresh]) {
      const { log } = await operator.call('read_conversation_log', { conversationId });
      expect(log).toMatch(/User: hello[\s\S]*User: and again/);
    }
  });

  it('shares its idempotency keys with the agent door, in both directions (B-65, B-66)', async () => {
    const first = { message: 'hello', idempotency_key: 'first there' };
    const there = (await mcp(first)).body.result.structuredContent;
    expect((await invoke(first)).body.data).toEqual({
      text: there.text,
      context_id: there.context_id,
      is_error: false,
    });
    const second = { message: 'hello', idempotency_key: 'first here' };
    const here = (await invoke(second)).body.data;
    const { content, structuredContent } = (await mcp(second)).body.result;
    expect(structuredContent).toMatchObject({ text: here.text, context_id: here.context_id });
    expect(content).toEqual([{ type: 'text', text: here.text }]);
    // Both conversations have the one message only.
    expect((await invoke(second)).body.data).toEqual(here);
    const streamed = await allEvents(await stream(second));
    expect(streamed.map(({ data }) => data)).toEqual([{ type: 'done', data: here }]);
    for (const other of [invoke({ ...first, message: 'x' }), mcp({ ...second, message: 'x' })])
      expect((await other).status).toBe(409);
  });

  it('refuses a key that is in flight on the other surface (B-83)', async () => {
    const args = { message: SLOW, idempotency_key: 'in flight there' };
    const running = await startTool(platform.agentUrl('demo'), 'demo', args, { key });
    const during = await invoke(args);
    expect([during.status, during.body.error.code]).toEqual([409, 'conflict']);
    expect(during.body.error.message).toContain('duplicate idempotency key');
    const { result } = (await running.answer).body.at(-1);
    expect((await invoke(args)).body.data.text).toBe(result.content[0].text);
  });

  it('streams a delta for each bubble as it is said, and done as the last frame', async () => {
    const response = await stream({ message: SLOW });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const frames = [];
    const times = [];
    for await (const { name, data } of eventsOf(response)) {
      expect(name).toBe('message');
      frames.push(data);
      times.push(performance.now());
    }
    const deltas = frames.slice(0, -1);
    expect(deltas).toHaveLength(4);
    expect(deltas.every(({ type }) => type === 'delta')).toBe(true);
    expect(frames.at(-1)).toMatchObject({
      type: 'done',
      data: { text: deltas.map(({ text }) => text).join('\n') },
    });
    expect(times.at(-1)! - times[0]!).toBeGreaterThan(500);
  });

  it('says on the stream what failed, and ends it with done all the same', async () => {
    const events = await allEvents(await stream({ message: SLOW, timeout_ms: 300 }));
    expect(events.slice(-2).map(({ data }) => data)).toMatchObject([
      { type: 'error', error: { code: 'service_timeout' } },
      { type: 'done' },
    ]);
  });

  it('answers what refuses a call with its status, also to who accepts a stream', async () => {
    for (const [body, status] of [
      [{ message: '' }, 400],
      [{ message: 'x', context_id: `conv_${'a'.repeat(26)}` }, 403],
      [{ message: 'x', context_id: 'conv_none' }, 400],
      [{}, 400],
    ] as const) {
      const response = await stream(body);
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toContain('application/json');
    }
  });

  it('waits as long as timeout_ms says and stores nothing then', async () => {
    const { context_id } = (await invoke({ message: 'hello' })).body.data;
    const late = await invoke({ message: SLOW, context_id, timeout_ms: 200 });
    expect([late.status, late.body.error.code]).toEqual([504, 'service_timeout']);
    const operator = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    const { log } = await operator.call('read_conversation_log', { conversationId: context_id });
    expect(log).not.toContain(`User: ${SLOW}`);
    expect((await invoke({ message: 'hello', context_id, timeout_ms: 10_000_000 })).status).toBe(200);
  });

  it('cancels the call when its stream is closed, so the conversation is free', async () => {
    const { context_id } = (await invoke({ message: 'hello' })).body.data;
    const response = await stream({ message: SLOW, context_id });
    for await (const { data } of eventsOf(response)) if (data.type === 'delta') break;
    await expect.poll(async () => (await invoke({ message: 'hello', context_id })).status).toBe(200);
    const operator = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    const { log } = await operator.call('read_conversation_log', { conversationId: context_id });
    expect(log).not.toContain(`User: ${SLOW}`);
  });

  it.each([
    ['an empty message', { message: ' ' }],
    ['no message', {}],
    ['a number for a message', { message: 7 }],
    ['a list for a context_id', { message: 'x', context_id: ['a'] }],
    ['half a millisecond', { message: 'x', timeout_ms: 0.5 }],
    ['no time', { message: 'x', timeout_ms: 0 }],
    ['an empty key', { message: 'x', idempotency_key: '' }],
    ['a key of 300 characters', { message: 'x', idempotency_key: 'k'.repeat(300) }],
    ['text for metadata', { message: 'x', metadata: 'a' }],
    ['much metadata', { message: 'x', metadata: { a: 'x'.repeat(20_000) } }],
    ['an unknown member', { message: 'x', principal: 'root' }],
    ['text for attachments', { message: 'x', attachments: 'file_a' }],
  ])('refuses %s', async (_name, body) => {
    const answer = await invoke(body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_param']);
  });

  it('refuses a body of more than 1 MiB', async () => {
    const answer = await invoke({ message: 'x'.repeat(1_100_000) });
    expect([answer.status, answer.body.error.code]).toEqual([413, 'payload_too_large']);
  });

  it('is for the owner of the agent, whatever the role of others, and never for an agent key', async () => {
    const admin = await platform.addPerson(['patchbay-admin']);
    const foreign = await invoke({ message: 'x' }, { key: admin.key });
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'agent_not_found']);
    for (const refused of [platform.agentKey, null])
      expect((await invoke({ message: 'x' }, { key: refused })).status).toBe(401);
    const { context_id } = (await invoke({ message: 'hello' })).body.data;
    await rest(platform.url, 'POST', '/agent-files', {
      key: admin.key,
      body: { file: answeringAgent('admins-own', 'Yes.') },
    });
    for (const path of ['/agents/admins-own/invoke', '/agents/demo/invoke']) {
      const answer = await rest(platform.url, 'POST', path, {
        key: admin.key,
        body: { message: 'x', context_id },
      });
      expect(answer.status, path).toBe(403);
      expect(answer.body.error.message).not.toContain('demo');
    }
  });

  it('tells the agent what metadata says, without the words that are the platform’s', async () => {
    const rules = {
      behaviorGroups: [
        {
          name: 'all',
          rules: [
            {
              name: 'ticket',
              actions: ['echo'],
              conditions: [
                {
                  type: 'contextmatcher',
                  configs: { contextKey: 'metadata', contextType: 'object', objectKeyPath: 'ticket' },
                },
              ],
            },
            { name: 'none', actions: ['nothing'] },
          ],
        },
      ],
    };
    const text = (words: string) => [{ valueAlternatives: [{ type: 'text', text: words }] }];
    const file = {
      ...answeringAgent('clerk', ''),
      rules,
      output: {
        outputSet: [
          {
            action: 'echo',
            outputs: text('{{ context.metadata.ticket }}|{{ context.metadata.protocol }}|'),
          },
          { action: 'nothing', outputs: text('no metadata') },
        ],
      },
    };
    const deployed = await rest(platform.url, 'POST', '/agent-files', {
      key: platform.operatorKey,
      body: { file },
    });
    expect(deployed.body).toMatchObject({ status: 'READY' });
    const say = async (metadata: Record<string, unknown>) =>
      (
        await rest(platform.url, 'POST', '/agents/clerk/invoke', {
          key,
          body: { message: 'x', metadata },
        })
      ).body.data.text;
    expect(await say({ ticket: 'T-1', protocol: 'evil', caller_owner_id: 'root' })).toBe('T-1||');
    expect(await say({ protocol: 'evil', target_agent_id: 'x', delivery_principal: 'y' })).toBe(
      'no metadata',
    );
  });
});

describe('the calls of a minute', () => {
  let platform: TestPlatform;
  afterEach(() => platform?.close());

  it('count the same at the agent door and on REST, which says when to come back (B-73, B-74)', async () => {
    platform = await startTestPlatform({ env: { PATCHBAY_AGENT_DOOR_RATE: '5' } });
    const key = await agentsKey(platform);
    const invoke = () =>
      rest(platform.url, 'POST', '/agents/demo/invoke', { key, body: { message: 'hello' } });
    const mcp = () => callTool(platform.agentUrl('demo'), 'demo', { message: 'hello' }, { key });
    for (let count = 0; count < 5; count += 1)
      expect((await (count % 2 ? mcp() : invoke())).status).toBe(200);
    const refused = await invoke();
    expect([refused.status, refused.body.error]).toMatchObject([
      429,
      { type: 'rate_limit_error', code: 'rate_limited' },
    ]);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    const atTheDoor = await mcp();
    expect(atTheDoor.status).toBe(429);
    expect(atTheDoor.headers.get('retry-after')).toBeNull();
    expect((await rest(platform.url, 'GET', '/agents', { key })).status).toBe(200);
  });
});
