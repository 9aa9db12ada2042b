import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startToolServer, type ToolServer } from '../mcpcalls/tool-server.ts';
import { startToolsRig, type ToolsRig } from './tools-rig.ts';

describe('A conversation with a model and a budget', () => {
  let rig: ToolsRig;
  let server: ToolServer;
  beforeAll(async () => {
    rig = await startToolsRig({ env: { PATCHBAY_CONNECTIONS_CALLS_PER_MINUTE: '70' } });
    server = await startToolServer('modern');
    await rig.register('shop', { url: server.url, gated: false, cost: { usd: 1 } });
    await rig.register('free', { url: server.url, gated: false });
    rig.platform.platform.registry.configure({
      default: {
        check: undefined,
        source: 'code',
        servers: { priced: { url: server.url, gated: false, cost: () => ({ usd: 1 }) } },
      },
    });
  });
  afterAll(async () => {
    await rig?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const many = (name: string, count = 60) =>
    Array.from({ length: count }, (_, index) => ({ name, input: {}, id: `call_${index}` }));
  /** How many calls of one answer reach the server, and what the model is told of the others. */
  async function madeOf(calls: ReturnType<typeof many>, task: object, budget?: object) {
    const before = server.calls.length;
    const talk = await rig.agent(
      { mcpServers: ['shop', 'free', 'priced'], ...task },
      { ...(budget && { budget }) },
    );
    const { told, response } = await talk.say({ calls }, { text: 'Done.' });
    expect(response).toBe('Done.');
    const refused = told.filter(({ text }) => text.startsWith('BUDGET_EXCEEDED'));
    return { made: server.calls.length - before, refused: refused.length, talk, told };
  }

  it.each(['shop', 'priced'])(
    'makes no call on money that another one of the same answer spends, with costs of %s (attack 54) (E-104)',
    async name => {
      const one = await madeOf(many(`${name}__tells`), {}, { usdPerConversation: 1 });
      expect(one).toMatchObject({ made: 1, refused: 59 });
      const three = await madeOf(many(`${name}__tells`), {}, { usdPerConversation: 2.5 });
      expect(three).toMatchObject({ made: 3, refused: 57 });
    },
  );

  it('has each request and each call of a turn in the audit trail, with what it used and cost (W-101, W-104)', async () => {
    const task = { inputPricePer1M: 1_000, outputPricePer1M: 2_000 };
    const talk = await rig.agent({ mcpServers: ['shop', 'free'], ...task });
    const calls = [
      { name: 'shop__tells', input: {}, id: 'a' },
      { name: 'free__tells', input: {}, id: 'b' },
    ];
    await talk.say({ calls, usage: { inputTokens: 20, outputTokens: 10 } }, { text: 'Done.' });
    const { conversationId } = talk;
    const { entries } = await rig.client.call('read_audit_trail', { conversationId, limit: 200 });
    const turn = entries.find(({ taskType, stepIndex }) => taskType === 'llm' && stepIndex === 1)!;
    expect(turn.output).toMatchObject({
      'llm:main:request': [
        { usage: { inputTokens: 20, outputTokens: 10 }, costUsd: 0.04, outcome: 'tool-calls' },
        { usage: { inputTokens: 10, outputTokens: 5 }, costUsd: 0.02, outcome: 'stop' },
      ],
      'llm:main:call': [
        { server: 'default/shop', outcome: 'answered', costUsd: 1 },
        { server: 'default/free', outcome: 'answered' },
      ],
    });
  });

  it('makes calls that cost nothing as long as something is left', async () => {
    const calls = [...many('free__tells', 5), { name: 'shop__tells', input: {}, id: 'paid' }];
    expect(await madeOf(calls, {}, { usdPerConversation: 1 })).toMatchObject({ made: 6, refused: 0 });
  });

  it('ends with an answer when its calls have spent the rest, and does not begin again', async () => {
    const { talk } = await madeOf(many('shop__tells', 1), {}, { usdPerConversation: 1 });
    expect(rig.model.requests).toHaveLength(2);
    await expect(talk.say({ text: 'Never said.' })).rejects.toThrow(/has spent 1 of the 1 US dollars/);
    expect(rig.model.requests).toHaveLength(0);
  });

  it('has the budget of its task where that is enforced, and the lower one of two', async () => {
    const task = { maxBudgetPerConversation: 2 };
    expect(await madeOf(many('shop__tells', 4), task)).toMatchObject({ made: 4, refused: 0 });
    const enforced = { ...task, enforceBudget: true };
    expect(await madeOf(many('shop__tells', 4), enforced)).toMatchObject({ made: 2, refused: 2 });
    expect(await madeOf(many('shop__tells', 4), enforced, { usdPerConversation: 1 })).toMatchObject({
      made: 1,
    });
    expect(await madeOf(many('shop__tells', 4), enforced, { usdPerConversation: 9 })).toMatchObject({
      made: 2,
    });
  });

  it('counts what the task says a tool costs, where its server says nothing', async () => {
    const task = { toolPricing: { free__tells: 0.5, shop__tells: 9 } };
    expect(await madeOf(many('free__tells', 5), task, { usdPerConversation: 1 })).toMatchObject({ made: 2 });
    expect(await madeOf(many('shop__tells', 5), task, { usdPerConversation: 3 })).toMatchObject({ made: 3 });
  });

  it('pays for the request to its model, too', async () => {
    const task = { inputPricePer1M: 100_000, outputPricePer1M: 0 };
    // Ten tokens each time.
    const { made, refused } = await madeOf(many('free__tells', 2), task, { usdPerConversation: 1 });
    expect([made, refused]).toEqual([0, 2]);
  });

  it('is told when it calls a tool too often within a minute (E-104)', async () => {
    const talk = await rig.agent({ mcpServers: ['free'] });
    const before = server.calls.length;
    const { told } = await talk.say(
      { calls: many('free__echo', 60) },
      { calls: many('free__echo', 20) },
      { text: 'Done.' },
    );
    expect(server.calls.length - before).toBe(70);
    expect(told.filter(({ text }) => text.startsWith('RATE_LIMITED'))).toHaveLength(10);
  });

  it.each(['calculator', 'ping'])('has the same limits for calls of %s (E-104)', async name => {
    const httpcalls = {
      targetServerUrl: new URL(server.url).origin,
      httpCalls: [{ name: 'ping', parameters: {}, request: { path: '/ping' } }],
    };
    const task = { enableBuiltInTools: true, mcpServers: ['shop'] };
    const often = await rig.agent(task, { httpcalls });
    const rounds = await often.say({ calls: many(name) }, { calls: many(name, 20) }, { text: 'Done.' });
    expect(rounds.told.filter(({ text }) => text.startsWith('RATE_LIMITED'))).toHaveLength(10);
    const priced = { ...task, inputPricePer1M: 100_000, outputPricePer1M: 0 };
    const poor = await rig.agent(priced, { httpcalls, budget: { usdPerConversation: 1 } });
    const { told } = await poor.say({ calls: many(name, 1) }, { text: 'Done.' });
    expect(told[0]!.text).toMatch(/^BUDGET_EXCEEDED: /);
  });
});
