import { BY_AGENT, CALLED_BY_HEADER, CALLED_BY_META } from '@patchbay/contract/called-by';
import { createClient } from '@patchbay/contract/client';
import type { TestNode, TestPlatform } from '@patchbay/testing/platform';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { callTool, post, rpc } from '../doors/wire.ts';
import { ASKER, deployAsker, operate, PAID, PAY, waitingConversations } from './asking-agent.ts';
import { APPROVE, type CallStream, type Message, openSession, REJECT, statelessCall } from './raw-client.ts';

describe.each(platforms)('asking at the agent door of $kind', ({ start }) => {
  let platform: TestPlatform;
  /** Where calls go, and where answers go: two nodes where there are two. */
  let one: TestNode;
  let other: TestNode;
  let url: string;
  let key: string;
  beforeAll(async () => {
    platform = await start({ env: { PATCHBAY_AGENT_DOOR_RATE: '0' } });
    const { nodes = [platform] } = platform as TestPlatform & { nodes?: TestNode[] };
    [one, other] = [nodes[0]!, nodes.at(-1)!];
    url = one.agentUrl(ASKER);
    key = platform.operatorKey;
    await deployAsker(platform);
  });
  afterEach(async () => {
    for (const conversationId of await waitingConversations(platform))
      await operate(platform, 'cancel_conversation', { conversationId });
  });
  afterAll(() => platform?.close());

  const read = (conversationId: string) => operate(platform, 'read_conversation', { conversationId });
  const stateOf = async (conversationId: string) => (await read(conversationId)).conversationState;
  const waiting = async () => (await waitingConversations(platform))[0]!;
  /** Opens the same agent, for somebody else. */
  async function newAgentKey(name: string): Promise<string> {
    const owner = createClient({ baseUrl: one.url, token: one.ownerToken, fetch });
    return (await owner.call('create_agent_key', { agentId: ASKER, name })).key;
  }
  const isOpen = async (conversationId: string) =>
    expect(await stateOf(conversationId)).toBe('AWAITING_HUMAN');
  const textOf = (message: Message | undefined) => message?.result?.content[0].text;

  /** A call of the older eras that has asked. */
  async function ask(options: Parameters<Awaited<ReturnType<typeof openSession>>['call']>[1] = {}) {
    const session = await openSession(url, key);
    const call = await session.call(PAY, options);
    const question = (await call.next())!;
    expect(question).toMatchObject({ jsonrpc: '2.0', method: 'elicitation/create' });
    return { session, call, question, conversationId: await waiting() };
  }
  const isPaid = async (call: CallStream, id: unknown = 1) => {
    const messages = await call.rest();
    expect(messages.map(message => message.method ?? 'result')).toEqual([
      'notifications/progress',
      'notifications/progress',
      'result',
    ]);
    expect(messages.at(-1)).toMatchObject({ id });
    expect(textOf(messages.at(-1))).toBe(PAID);
  };

  describe('in the older eras', () => {
    it('is a request on the stream of the call, and any node takes the answer (B-63)', async () => {
      const { session, call, question } = await ask({ id: 'seven' });
      expect(question.id).toMatch(/^pause_/);
      expect(question.params.requestedSchema.properties.decision.enum).toEqual(['approve', 'reject']);
      const taken = await session.answer(question.id, APPROVE, other.agentUrl(ASKER));
      expect([taken.status, taken.body]).toEqual([202, undefined]);
      await isPaid(call, 'seven');
    });

    it('goes the same way where the SDK carries the call', async () => {
      const { session, call, question } = await ask({ params: { unusual: 1 } });
      await session.answer(question.id, APPROVE, other.agentUrl(ASKER));
      await isPaid(call);
    });

    it('is left open by a client that will not answer, whichever node hears of it', async () => {
      for (const answer of [
        { result: { action: 'cancel' } },
        { error: { code: -32603, message: 'No screen' } },
      ]) {
        const { session, call, question, conversationId } = await ask();
        await session.send({ jsonrpc: '2.0', id: question.id, ...answer }, other.agentUrl(ASKER));
        const [result, ...rest] = await call.rest();
        expect(rest).toEqual([]);
        expect(textOf(result)).toContain('waits for an approval');
        await isOpen(conversationId);
        await operate(platform, 'cancel_conversation', { conversationId });
      }
    });

    it('is withdrawn when somebody else decides, and a late answer changes nothing (attack 52)', async () => {
      const { session, call, question, conversationId } = await ask();
      const rest = createClient({ baseUrl: other.url, token: key, fetch });
      await rest.call('resume_conversation', { conversationId, verdict: 'REJECTED', note: 'No.' });
      const [withdrawn, ...after] = await call.rest();
      expect(withdrawn).toMatchObject({
        method: 'notifications/cancelled',
        params: { requestId: question.id },
      });
      expect(textOf(after.at(-1))).toBe('No.');
      const before = await read(conversationId);
      for (const answer of [APPROVE, { action: 'cancel' }])
        expect((await session.answer(question.id, answer)).status).toBe(202);
      expect(await read(conversationId)).toEqual(before);
    });

    it('counts the first of two answers (attack 52)', async () => {
      const { session, call, question } = await ask();
      const answers = [APPROVE, REJECT].map((answer, index) =>
        session.answer(question.id, answer, [one, other][index]!.agentUrl(ASKER)),
      );
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([202, 202]);
      const results = (await call.rest()).filter(message => 'id' in message);
      expect(results).toHaveLength(1);
      expect([PAID, '']).toContain(textOf(results[0]));
    });

    it('is answered by nobody it was not asked of, who hear the same as of no question (attacks 17, 19, 41)', async () => {
      const { question, conversationId } = await ask();
      const agentKey = await newAgentKey('another');
      const stranger = await openSession(url, agentKey);
      const formless = await openSession(url, key, { capabilities: {} });
      const own = await openSession(url, key);
      const toOtherAgent = await openSession(one.agentUrl('demo'), key);
      const message = { jsonrpc: '2.0', id: question.id, result: APPROVE };
      const refusals = [
        await stranger.answer(question.id, APPROVE),
        await formless.answer(question.id, APPROVE),
        await toOtherAgent.answer(question.id, APPROVE),
        await own.answer('pause_none', APPROVE),
        await post(url, message, { key }),
      ];
      const bodies = refusals.map(({ status, body }) => ({ status, body }));
      expect(bodies).toEqual(Array(5).fill(bodies[0]));
      expect(bodies[0]).toMatchObject({
        status: 403,
        body: { id: null, error: { data: { code: 'forbidden' } } },
      });
      // A session opens nothing with another credential, or at another agent.
      const stolen = await post(url, message, { key: agentKey, headers: own.headers });
      const moved = await post(one.agentUrl('demo'), message, { key, headers: own.headers });
      expect([stolen.status, moved.status]).toEqual([404, 404]);
      await isOpen(conversationId);
    });

    it('is neither asked of an agent nor answered by one (attack 29)', async () => {
      const { session, question, conversationId } = await ask();
      const marks = [
        { headers: { ...session.headers, [CALLED_BY_HEADER]: BY_AGENT }, meta: {} },
        { headers: session.headers, meta: { _meta: { [CALLED_BY_META]: BY_AGENT } } },
      ];
      for (const { headers, meta } of marks) {
        const params = { name: ASKER, arguments: PAY, ...meta };
        const { body } = await rpc(url, 'tools/call', params, { key, headers, stream: true });
        expect(body).toMatchObject([{ result: { structuredContent: { status: 'PAUSED_FOR_APPROVAL' } } }]);
      }
      const answer = { jsonrpc: '2.0', id: question.id, result: APPROVE };
      expect((await post(url, answer, { key, headers: marks[0]!.headers })).status).toBe(403);
      await isOpen(conversationId);
    });

    it('takes a response to nothing, as ever', async () => {
      const session = await openSession(url, key);
      for (const id of [1, 'x', null]) expect((await session.answer(id, {})).status).toBeLessThan(500);
      expect((await session.answer(1, {})).status).toBe(202);
    });

    it('ends with the call that its client cancels; the approval stays', async () => {
      const { session, call, conversationId } = await ask({ id: 5 });
      await session.send(
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } },
        other.agentUrl(ASKER),
      );
      expect(await call.rest()).toMatchObject([{ id: 5, error: { data: { code: 'cancelled' } } }]);
      await isOpen(conversationId);
    });

    it('outlives a client that goes away, and the turn goes on without it', async () => {
      const { call, conversationId } = await ask();
      await call.leave();
      await isOpen(conversationId);
      await operate(platform, 'resume_conversation', { conversationId, verdict: 'APPROVED' });
      await expect.poll(() => stateOf(conversationId), { timeout: 10_000 }).toBe('READY');
    });

    it('goes on after an answer of a client whose stream is gone', async () => {
      const { session, call, question, conversationId } = await ask();
      await call.leave();
      expect((await session.answer(question.id, APPROVE, other.agentUrl(ASKER))).status).toBe(202);
      await expect.poll(() => stateOf(conversationId), { timeout: 10_000 }).toBe('READY');
    });

    it('ends the call with an error when the wait is cancelled (B-64)', async () => {
      const { call, conversationId } = await ask();
      await operate(platform, 'cancel_conversation', { conversationId });
      const messages = (await call.rest()).filter(message => 'id' in message);
      expect(messages).toMatchObject([{ id: 1, error: { data: { code: 'cancelled' } } }]);
    });

    it('goes on when the approval runs out of time', async () => {
      const agent = 'hasty';
      await deployAsker(platform, { approvalTimeout: 'PT1S', timeoutPolicy: 'AUTO_APPROVE' }, agent);
      const session = await openSession(one.agentUrl(agent), key);
      const call = await session.call(PAY, { params: { name: agent } });
      expect((await call.next())?.method).toBe('elicitation/create');
      expect(textOf((await call.rest()).at(-1))).toBe(PAID);
    });

    it.each([
      ['without a stream', async () => callWithoutStream()],
      ['in a revision without forms', async () => callIn('2025-03-26', { elicitation: {} })],
      [
        'of a client that opens addresses only',
        async () => callIn('2025-11-25', { elicitation: { url: {} } }),
      ],
      ['outside a session', async () => (await callTool(url, ASKER, PAY, { key, stream: true })).body.at(-1)],
    ])('asks nothing %s', async (_name, send) => {
      const answer = (await send()) as Message;
      expect(textOf(answer)).toContain('waits for an approval');
      expect(answer.result.structuredContent.status).toBe('PAUSED_FOR_APPROVAL');
    });

    async function callWithoutStream(): Promise<Message> {
      const { headers } = await openSession(url, key);
      return (await callTool(url, ASKER, PAY, { key, headers })).body;
    }
    async function callIn(version: string, capabilities: object): Promise<Message> {
      const session = await openSession(url, key, { version, capabilities });
      return (await (await session.call(PAY)).rest()).at(-1)!;
    }

    it('reaches each client with its own question, with equal ids in flight (attack 19)', async () => {
      const agentKey = await newAgentKey('crowd');
      const clients = Array.from({ length: 64 }, async (_, index) => {
        const node = [one, other][index % 2]!;
        const session = await openSession(node.agentUrl(ASKER), index % 3 === 0 ? agentKey : key);
        const call = await session.call(PAY);
        const question = (await call.next())!;
        const content = { decision: 'reject', note: `note ${index}` };
        await session.answer(question.id, { action: 'accept', content });
        const messages = await call.rest();
        return {
          asked: question.id,
          text: textOf(messages.at(-1)),
          questions: messages.filter(m => m.method === 'elicitation/create'),
        };
      });
      const served = await Promise.all(clients);
      expect(new Set(served.map(({ asked }) => asked)).size).toBe(64);
      expect(served.flatMap(({ questions }) => questions)).toEqual([]);
      expect(served.map(({ text }) => text)).toEqual(served.map((_, index) => `note ${index}`));
    });
  });

  describe('in the stateless era', () => {
    const call = (params: Record<string, unknown>, options: Parameters<typeof statelessCall>[3] = {}) =>
      statelessCall(url, key, params, options);
    async function asked(args: Record<string, unknown> = PAY) {
      const { last } = await call({ arguments: args });
      const { resultType, inputRequests, requestState } = last.result;
      expect(resultType).toBe('input_required');
      const [pauseId] = Object.keys(inputRequests);
      expect(inputRequests[pauseId!]).toMatchObject({
        method: 'elicitation/create',
        params: { mode: 'form' },
      });
      const repeat = (answer: unknown, changes: Record<string, unknown> = {}) => ({
        arguments: args,
        requestState,
        inputResponses: { [pauseId!]: answer },
        ...changes,
      });
      return { repeat, pauseId: pauseId!, requestState, conversationId: await waiting() };
    }

    it('is the result of the call, and its repeat goes on at any node', async () => {
      const { repeat, conversationId } = await asked();
      const { last } = await statelessCall(other.agentUrl(ASKER), key, repeat(APPROVE));
      expect(last.result).toMatchObject({ resultType: 'complete' });
      expect(textOf(last)).toBe(PAID);
      expect(last.result.structuredContent.context_id).toBe(conversationId);
      expect(
        (await operate(platform, 'read_conversation', { conversationId, currentStepOnly: false }))
          .conversationOutputs,
      ).toHaveLength(2);
    });

    it('asks again when the answer is missing', async () => {
      const { repeat, pauseId, conversationId } = await asked();
      for (const inputResponses of [undefined, {}, { other: APPROVE }]) {
        const { last } = await call(repeat(APPROVE, { inputResponses }));
        expect(Object.keys(last.result.inputRequests)).toEqual([pauseId]);
      }
      await isOpen(conversationId);
    });

    it('says the same again when it is repeated after the decision, and decides nothing (attack 52)', async () => {
      const { repeat, conversationId } = await asked();
      const first = await call(repeat(REJECT));
      const before = await read(conversationId);
      const again = await call(repeat(APPROVE));
      expect(again.last.result).toEqual(first.last.result);
      await call({ arguments: { message: 'hello', context_id: conversationId } });
      expect((await call(repeat(APPROVE))).last.result.content).toEqual(first.last.result.content);
      expect(before).toMatchObject({ conversationState: 'READY' });
    });

    it('goes on for one of two repeats at once, and both are answered (attack 52)', async () => {
      const { repeat } = await asked();
      const both = await Promise.all([
        statelessCall(one.agentUrl(ASKER), key, repeat(APPROVE)),
        statelessCall(other.agentUrl(ASKER), key, repeat(APPROVE)),
      ]);
      expect(both.map(({ last }) => textOf(last))).toEqual([PAID, PAID]);
    });

    it('takes no state that was not handed out for this call to this credential (attacks 41, 52)', async () => {
      const { repeat, requestState, conversationId } = await asked();
      const agentKey = await newAgentKey('thief');
      const good = repeat(APPROVE);
      const session = await openSession(url, key);
      const [payload, signature] = requestState.split('.');
      const changed = Buffer.from(
        Buffer.from(payload, 'base64url').toString().replace(conversationId, 'conv_other'),
      ).toString('base64url');
      const refusals = [
        await call({ ...good, requestState: `${changed}.${signature}` }),
        await call({ ...good, requestState: `${payload}.` }),
        await call({ ...good, requestState: '' }),
        await call({ ...good, requestState: session.headers['mcp-session-id'] }),
        await call({ ...good, arguments: { message: 'Pay' } }),
        await call({ ...good, arguments: { ...PAY, idempotency_key: 'k' } }),
        await statelessCall(url, agentKey, good),
        await statelessCall(one.agentUrl('demo'), key, good, { name: 'demo' }),
      ];
      for (const { status, body } of refusals) {
        expect(status).toBe(400);
        expect(body.error).toMatchObject({ code: -32602, data: { code: 'invalid_param' } });
      }
      await isOpen(conversationId);
      expect(textOf((await call(good)).last)).toBe(PAID);
    });

    it('is neither asked of an agent nor answered by one (attack 29)', async () => {
      const { repeat, conversationId } = await asked();
      const mark = { headers: { [CALLED_BY_HEADER]: BY_AGENT } };
      expect((await call({ arguments: PAY }, mark)).last.result).toMatchObject({ resultType: 'complete' });
      expect((await call(repeat(APPROVE), mark)).status).toBe(403);
      await isOpen(conversationId);
    });

    it('is answered with one text by a client that shows no forms any more', async () => {
      const { repeat, conversationId } = await asked();
      const { last } = await call(repeat(undefined, { inputResponses: {} }), { capabilities: {} });
      expect(textOf(last)).toContain('waits for an approval');
      await isOpen(conversationId);
    });
  });
});

describe('asking where MCP may not decide', () => {
  it('is not done, and decides nothing (E-31)', async () => {
    const [{ start }] = platforms as [(typeof platforms)[0]];
    const platform = await start({ env: { PATCHBAY_MCP_HITL_MUTATIONS: 'false' } });
    try {
      await deployAsker(platform);
      const url = platform.agentUrl(ASKER);
      const session = await openSession(url, platform.operatorKey);
      const [result] = await (await session.call(PAY)).rest();
      expect(result?.result.structuredContent.status).toBe('PAUSED_FOR_APPROVAL');
      const { last } = await statelessCall(url, platform.operatorKey, { arguments: PAY });
      expect(last.result).toMatchObject({ resultType: 'complete' });
      const conversationId = result?.result.structuredContent.context_id;
      const { pauseId } = await operate(platform, 'get_approval_status', { conversationId });
      expect((await session.answer(pauseId, APPROVE)).status).toBe(403);
      expect(await operate(platform, 'get_approval_status', { conversationId })).toMatchObject({
        state: 'AWAITING_HUMAN',
      });
    } finally {
      await platform.close();
    }
  });
});

describe('asking a client that may call twice in a minute', () => {
  it('counts the repeat of a call and not the answer to a question', async () => {
    const [{ start }] = platforms as [(typeof platforms)[0]];
    const platform = await start({ env: { PATCHBAY_AGENT_DOOR_RATE: '2' } });
    try {
      await deployAsker(platform);
      const [url, key] = [platform.agentUrl(ASKER), platform.operatorKey];
      const session = await openSession(url, key);
      const call = await session.call(PAY);
      const { id } = (await call.next())!;
      expect((await session.answer(id, APPROVE)).status).toBe(202);
      expect((await call.rest()).at(-1)).toMatchObject({ id: 1, result: {} });
      const { last } = await statelessCall(url, key, { arguments: PAY });
      const { inputRequests, requestState } = last.result;
      const inputResponses = { [Object.keys(inputRequests)[0]!]: APPROVE };
      const repeat = { arguments: PAY, requestState, inputResponses };
      expect((await statelessCall(url, key, repeat)).status).toBe(429);
    } finally {
      await platform.close();
    }
  });
});

describe('asking at a node that stops', () => {
  it('ends with the text, and the approval waits for the next start', async () => {
    const [{ start }] = platforms as [(typeof platforms)[0]];
    const platform = await start();
    await deployAsker(platform);
    const session = await openSession(platform.agentUrl(ASKER), platform.operatorKey);
    const call = await session.call(PAY);
    const question = (await call.next())!;
    const [messages] = await Promise.all([call.rest(), platform.close()]);
    expect(messages).toMatchObject([
      { method: 'notifications/cancelled', params: { requestId: question.id } },
      { id: 1, result: { structuredContent: { status: 'PAUSED_FOR_APPROVAL' } } },
    ]);
  });
});
