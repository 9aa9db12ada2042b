import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteDeploymentsOf } from '../../packages/server/src/store/tables/deployments.ts';
import { platforms } from '../doors/platforms.ts';
import { callTool } from '../doors/wire.ts';
import { allEvents, eventsOf } from './event-stream.ts';
import { agentsKey, answeringAgent, type RestOptions, rest } from './rest-client.ts';

/** The demo agent takes 1.6 seconds for it, in four bubbles. */
const SLOW = 'show progress';
/** The demo agent asks for an approval. */
const WAITS = 'Ask a person first';
const ENDED = ['completed', 'failed', 'canceled', 'timeout', 'rejected'];

describe.each(platforms)('tasks on REST of $kind', ({ start }) => {
  let platform: TestPlatform;
  let key: string;
  let stranger: string;
  beforeAll(async () => {
    platform = await start();
    key = await agentsKey(platform);
    stranger = await agentsKey(platform, (await platform.addPerson(['patchbay-admin'])).userId);
    await deploy(answeringAgent('sleeper', 'Awake.', { delay: 8_000 }));
  });
  afterAll(() => platform?.close());

  const ask = (method: string, path: string, options: Partial<RestOptions> = {}) =>
    rest(platform.url, method, path, { key, ...options });
  const deploy = (file: unknown) =>
    ask('POST', '/agent-files', { key: platform.operatorKey, body: { file } });
  const create = (body: Record<string, unknown>, agent = 'demo') =>
    ask('POST', `/agents/${agent}/tasks`, { body });
  const read = async (id: string) => (await ask('GET', `/tasks/${id}`)).body;
  const ended = (id: string) =>
    expect.poll(async () => (await read(id)).status, { timeout: 15_000 }).toBeOneOf(ENDED);
  const running = (id: string) => expect.poll(async () => (await read(id)).status).toBe('running');
  const events = (id: string, since?: number) =>
    fetch(`${platform.url}/api/v1/tasks/${id}/events${since === undefined ? '' : `?since=${since}`}`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    });
  const mcp = (args: Record<string, unknown>, agent = 'demo') =>
    callTool(platform.agentUrl(agent), agent, args, { key });
  const operator = () => createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });

  it('are taken at once and worked on in the background', async () => {
    const { status, body } = await create({ message: SLOW });
    expect(status).toBe(202);
    expect(body).toMatchObject({
      task_id: expect.stringMatching(/^task_[a-z2-7]{26}$/),
      agent_id: 'demo',
      status: 'queued',
      created_at: expect.any(Number),
    });
    await ended(body.task_id);
    const there = (await mcp({ message: SLOW })).body.result.content[0].text;
    const done = await read(body.task_id);
    expect(done).toMatchObject({ status: 'completed', result: { text: there } });
    expect(done.ended_at).toBeGreaterThanOrEqual(done.started_at);
  });

  it('are followed by events: each message once, offsets that grow, and one end', async () => {
    const { task_id } = (await create({ message: SLOW })).body;
    const response = await events(task_id);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const seen = await allEvents(response);
    expect(
      seen.map(({ name, data }) => [name, data.type, data.type === 'task_status' ? data.body : '']),
    ).toEqual([
      ['message', 'chat_message', ''],
      ['message', 'task_status', 'running'],
      ['message', 'agent_reply', ''],
      ['message', 'task_status', 'completed'],
      ['end', 'end', ''],
    ]);
    expect(seen.at(-1)!.data).toEqual({ type: 'end', reason: 'task_terminal' });
    const offsets = seen.slice(0, -1).map(({ data }) => data.offset);
    expect(offsets).toEqual(offsets.toSorted((a: number, b: number) => a - b));
    expect(new Set(offsets).size).toBe(offsets.length);
    expect(seen[2]!.data.in_reply_to).toBe(seen[0]!.data.message_id);
    expect(seen[0]!.id).toBe(String(seen[0]!.data.offset));
    const later = await allEvents(await events(task_id, offsets[1]));
    expect(later.map(({ data }) => data)).toEqual(seen.slice(2).map(({ data }) => data));
    const back = await fetch(`${platform.url}/api/v1/tasks/${task_id}/events?since=${offsets[0]}`, {
      headers: {
        authorization: `Bearer ${key}`,
        accept: 'text/event-stream',
        'last-event-id': String(offsets[2]),
      },
    });
    expect((await allEvents(back)).map(({ data }) => data)).toEqual(seen.slice(3).map(({ data }) => data));
    const page = (await ask('GET', `/tasks/${task_id}/messages?since=${offsets[0]}&limit=2`)).body;
    expect(page).toEqual({
      count: 2,
      messages: seen.slice(1, 3).map(({ data }) => data),
      next: offsets[2],
    });
    const plain = await ask('GET', `/tasks/${task_id}/events`);
    expect(plain.body.messages).toHaveLength(4);
  });

  it('are canceled on whichever node they run, and nothing of them is stored (B-60, B-61)', async () => {
    const { task_id } = (await create({ message: 'go' }, 'sleeper')).body;
    await running(task_id);
    const stream = events(task_id).then(allEvents);
    const canceled = await ask('POST', `/tasks/${task_id}/cancel`, { body: { reason: 'no longer needed' } });
    expect(canceled.body).toMatchObject({ status: 'canceled', cancel_reason: 'no longer needed' });
    const seen = await stream;
    expect(seen.at(-1)!.data).toEqual({ type: 'end', reason: 'task_terminal' });
    expect(seen.at(-2)!.data).toMatchObject({ type: 'task_status', body: 'canceled' });
    expect(seen.some(({ data }) => data.type === 'agent_reply')).toBe(false);
    const again = await ask('POST', `/tasks/${task_id}/cancel`, { body: {} });
    expect(again.body).toEqual(canceled.body);
  }, 30_000);

  it('leave their conversation to MCP calls, which see how they ended (B-60, B-61)', async () => {
    const begun = (await mcp({ message: 'hello' })).body.result.structuredContent.context_id;
    const { task_id } = (await create({ message: SLOW, context_id: begun })).body;
    await running(task_id);
    const during = await mcp({ message: 'are you there?', context_id: begun });
    expect([during.status, during.body.error.data.code]).toEqual([409, 'conflict']);
    await ask('POST', `/tasks/${task_id}/cancel`, { body: {} });
    await expect.poll(async () => (await mcp({ message: 'hello', context_id: begun })).status).toBe(200);
    const { log } = await operator().call('read_conversation_log', { conversationId: begun });
    expect(log).not.toContain(`User: ${SLOW}`);

    const second = (await create({ message: 'a task of mine', context_id: begun })).body;
    await ended(second.task_id);
    expect(await read(second.task_id)).toMatchObject({ status: 'completed', context_id: begun });
    expect((await mcp({ message: 'and now?', context_id: begun })).status).toBe(200);
    const whole = await operator().call('read_conversation_log', { conversationId: begun });
    expect(whole.log).toMatch(/User: a task of mine[\s\S]*User: and now\?/);
  });

  it('begin conversations that go on at the agent door', async () => {
    const { task_id } = (await create({ message: 'hello' })).body;
    await ended(task_id);
    const { context_id } = await read(task_id);
    const next = await mcp({ message: 'and again', context_id });
    expect(next.body.result.structuredContent.context_id).toBe(context_id);
  });

  it('wait for a conversation that is busy', async () => {
    const begun = (await mcp({ message: 'hello' })).body.result.structuredContent.context_id;
    const busy = mcp({ message: SLOW, context_id: begun });
    await expect
      .poll(
        async () => (await operator().call('read_conversation', { conversationId: begun })).conversationState,
      )
      .toBe('IN_PROGRESS');
    const { task_id } = (await create({ message: 'patience', context_id: begun })).body;
    expect((await busy).status).toBe(200);
    await ended(task_id);
    expect((await read(task_id)).status).toBe('completed');
  });

  it('are one for one idempotency key, also of requests at the same moment', async () => {
    const body = { message: 'hello', idempotency_key: 'a task, once' };
    const made = await Promise.all([create(body), create(body), create(body), create(body)]);
    expect(new Set(made.map(answer => answer.body.task_id)).size).toBe(1);
    expect(made.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    const other = await create({ ...body, message: 'bye' });
    expect([other.status, other.body.error.code]).toEqual([409, 'conflict']);
    await ended(made[0]!.body.task_id);
    const { result } = await read(made[0]!.body.task_id);
    expect((await mcp(body)).body.result.content[0].text).toBe(result.text);
  });

  it('end at their deadline', async () => {
    const { task_id } = (await create({ message: 'go', deadline_ms: 1_000 }, 'sleeper')).body;
    await ended(task_id);
    expect(await read(task_id)).toMatchObject({ status: 'timeout', error: { code: 'service_timeout' } });
  });

  it('are rejected when their agent would refuse the call', async () => {
    const { store } = platform.platform;
    await deploy(answeringAgent('gone', 'Yes.'));
    await store.commit(async db => {
      await deleteDeploymentsOf(db, 'gone');
    });
    const { task_id } = (await create({ message: 'go' }, 'gone')).body;
    await ended(task_id);
    expect(await read(task_id)).toMatchObject({
      status: 'failed',
      error: { code: 'agent_service_unavailable' },
    });
  });

  it('wait for an approval and go on with what is decided', async () => {
    const { task_id } = (await create({ message: WAITS })).body;
    await expect.poll(async () => (await read(task_id)).status).toBe('input_required');
    expect((await read(task_id)).input_required).toContain('approval');
    for (const wrong of ['', 'perhaps'])
      expect((await ask('POST', `/tasks/${task_id}/continue`, { body: { input: wrong } })).status).toBe(400);
    const stream = events(task_id).then(allEvents);
    const going = await ask('POST', `/tasks/${task_id}/continue`, { body: { input: 'approved' } });
    expect(going.status).toBe(202);
    await ended(task_id);
    expect(await read(task_id)).toMatchObject({ status: 'completed', result: { text: expect.any(String) } });
    const statuses = (await stream)
      .filter(({ data }) => data.type === 'task_status')
      .map(({ data }) => data.body);
    expect(statuses).toEqual(['running', 'input_required', 'completed']);
    const late = await ask('POST', `/tasks/${task_id}/continue`, { body: { input: 'approved' } });
    expect([late.status, late.body.error.code]).toEqual([409, 'conflict']);
  });

  it('that wait are canceled with what they wait for', async () => {
    const { task_id } = (await create({ message: WAITS })).body;
    await expect.poll(async () => (await read(task_id)).status).toBe('input_required');
    const { context_id } = await read(task_id);
    expect((await ask('POST', `/tasks/${task_id}/cancel`, { body: {} })).body.status).toBe('canceled');
    const state = (await operator().call('read_conversation', { conversationId: context_id }))
      .conversationState;
    expect(state).toBe('EXECUTION_INTERRUPTED');
    const next = (await create({ message: WAITS })).body;
    await expect.poll(async () => (await read(next.task_id)).status).toBe('input_required');
    const other = (await read(next.task_id)).context_id;
    await operator().call('cancel_conversation', { conversationId: other });
    await expect.poll(async () => (await read(next.task_id)).status, { timeout: 15_000 }).toBe('canceled');
  }, 30_000);

  it('are listed for who made them, by agent and state', async () => {
    const { userId } = await platform.addPerson(['patchbay-editor']);
    const editor = await platform.addPerson(['patchbay-editor']);
    expect(userId).not.toBe(editor.userId);
    await ask('POST', '/agent-files', {
      key: editor.key,
      body: { file: answeringAgent('editors', 'Yes.', { delay: 5_000 }) },
    });
    const as = { key: editor.key };
    const first = (await ask('POST', '/agents/editors/tasks', { ...as, body: { message: 'one' } })).body;
    const second = (await ask('POST', '/agents/editors/tasks', { ...as, body: { message: 'two' } })).body;
    await ask('POST', `/tasks/${first.task_id}/cancel`, { ...as, body: {} });
    const ids = async (path: string) =>
      (await ask('GET', path, as)).body.tasks.map(({ task_id }: { task_id: string }) => task_id);
    expect(new Set(await ids('/tasks'))).toEqual(new Set([first.task_id, second.task_id]));
    expect(await ids('/agents/editors/tasks?state=active')).toEqual([second.task_id]);
    expect(await ids('/tasks?state=closed')).toEqual([first.task_id]);
    expect(await ids('/tasks?limit=1')).toHaveLength(1);
    expect(await ids(`/tasks?since=${second.created_at}`)).toEqual([]);
    expect((await ask('GET', '/agents/demo/tasks', as)).status).toBe(404);
    expect((await ask('GET', '/tasks?limit=201', as)).status).toBe(400);
    await ask('POST', `/tasks/${second.task_id}/cancel`, { ...as, body: {} });
  });

  it('of somebody else are not there, in the words for what is nobody’s', async () => {
    const { task_id } = (await create({ message: 'hello' })).body;
    const missing = `task_${'a'.repeat(26)}`;
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['GET', '/messages', undefined],
      ['GET', '/events', undefined],
      ['POST', '/cancel', {}],
      ['POST', '/continue', { input: 'APPROVED' }],
    ] as const) {
      const options = { key: stranger, ...(body && { body }) };
      const foreign = await ask(method, `/tasks/${task_id}${path}`, options);
      const unknown = await ask(method, `/tasks/${missing}${path}`, options);
      expect([foreign.status, foreign.body]).toEqual([unknown.status, unknown.body]);
      expect([foreign.status, foreign.body.error.code]).toEqual([404, 'not_found']);
      expect((await ask(method, `/tasks/${task_id}${path}`, { ...options, key: null })).status).toBe(401);
      expect(
        (await ask(method, `/tasks/${task_id}${path}`, { ...options, key: platform.agentKey })).status,
      ).toBe(401);
    }
  });

  it.each([
    ['an empty message', { message: '' }, 400],
    ['no message', {}, 400],
    ['a deadline after eight days', { message: 'x', deadline_ms: 8 * 86_400_000 }, 400],
    ['a deadline at once', { message: 'x', deadline_ms: 0 }, 400],
    ['a deadline that is text', { message: 'x', deadline_ms: '5000' }, 400],
    ['what is no context_id', { message: 'x', context_id: '../../etc' }, 400],
    ['a context_id of nobody', { message: 'x', context_id: `conv_${'a'.repeat(26)}` }, 403],
    ['a file of nobody', { message: 'x', attachments: [{ file_id: `file_${'a'.repeat(26)}` }] }, 400],
    ['much metadata', { message: 'x', metadata: { a: 'x'.repeat(20_000) } }, 400],
    ['another member', { message: 'x', owner: 'root' }, 400],
  ])('are not made with %s', async (_name, body, status) => {
    expect((await create(body)).status).toBe(status);
  });

  it.each(['..%2F..%2Ftasks', 'task_%00', '%2e%2e', "task_' or 1=1", 'x'.repeat(3_000)])(
    'are not found by %s',
    async id => {
      for (const path of ['', '/events', '/messages'])
        expect([400, 404]).toContain((await ask('GET', `/tasks/${id}${path}`)).status);
    },
  );

  it('go on for others when a reader goes away in the middle', async () => {
    const { task_id } = (await create({ message: SLOW })).body;
    const impatient = await events(task_id);
    for await (const { data } of eventsOf(impatient)) if (data.body === 'running') break;
    const patient = await allEvents(await events(task_id));
    expect(patient.at(-1)!.data.reason).toBe('task_terminal');
  });
});

describe('the streams of tasks', () => {
  it('end when the node stops, so it stops at once', async () => {
    const platform = await startTestPlatform();
    const key = await agentsKey(platform);
    const made = await rest(platform.url, 'POST', '/agents/demo/tasks', { key, body: { message: WAITS } });
    const stream = await fetch(`${platform.url}/api/v1/tasks/${made.body.task_id}/events`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    });
    const seen = [];
    let closed: Promise<void> | undefined;
    for await (const event of eventsOf(stream)) {
      seen.push(event);
      if (event.data.body === 'input_required') closed = platform.close();
    }
    expect(seen.at(-1)!.data).toEqual({ type: 'end', reason: 'stream_closed' });
    await closed;
  });
});
