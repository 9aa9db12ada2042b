// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { randomBytes } from 'node:crypto';
import { createClient } from '@patchbay/contract/client';
import type { Role } from '@patchbay/contract/roles';
import type { TestPlatform } from '@patchbay/testing/platform';
import { type ScriptedModel, startScriptedModel } from '@patchbay/testing/scripted-model';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dumpTables, newCanary, placesWith } from '../canary.ts';
import { newMark } from '../connections/fault-rig.ts';
import { type FaultServer, startFaultServer, tool } from '../connections/servers/fault-server.ts';
import { platforms } from '../doors/platforms.ts';
import { startToolsRig, type ToolsRig } from '../models/tools-rig.ts';

/** Authors, models and servers that want more than they may. */
describe('An agent with a model', () => {
  let rig: ToolsRig;
  let server: FaultServer;
  beforeAll(async () => {
    rig = await startToolsRig({
      env: {
        PATCHBAY_LOG_LEVEL: 'debug',
        PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex'),
        PATCHBAY_CONNECTIONS_CALLS_PER_MINUTE: '0',
      },
    });
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    server = await startFaultServer('legacy');
    server.tools = [tool('buy')];
  });
  afterEach(() => server[Symbol.asyncDispose]());

  const buy = (mark: string, more: object = {}) => ({ name: 'shop__buy', input: { mark, ...more } });

  it('does not open the gate of a server by having the clock approve (attack 52)', async () => {
    await rig.register('shop', { url: server.url, gated: true });
    const auto = { timeoutPolicy: 'AUTO_APPROVE', approvalTimeout: 'PT1S' };
    const toolApprovals = { ...auto, rules: [{ match: '*', ...auto }] };
    const talk = await rig.agent({ mcpServers: ['shop'] }, { hitlConfig: { ...auto, toolApprovals } });
    const mark = newMark();
    await talk.say({ calls: [buy(mark)] }, { text: 'Done.' });
    const { conversationId } = talk;
    expect(await rig.client.call('get_approval_status', { conversationId })).toMatchObject({
      timeoutPolicy: 'WAIT_INDEFINITELY',
    });
    expect(server.executions(mark)).toBe(0);
    await rig.client.call('resume_conversation', { conversationId, verdict: 'APPROVED' });
    await expect.poll(() => server.executions(mark)).toBe(1);
  });

  it('keeps a secret of its address out of what is told and written down (attack 46)', async () => {
    const canary = newCanary();
    await rig.client.call('put_secret', { name: 'in-address', value: canary.core });
    const ask = async (origin: string) => {
      const parameters = { model: 'any', baseUrl: `${origin}/\${vault:in-address}/v1` };
      const talk = await rig.agent({ parameters, retry: { maxAttempts: 2, backoffDelayMs: 0 } });
      return talk.say({ text: 'Found.' });
    };
    expect((await ask(rig.model.url)).response).toBe('Found.');
    expect(placesWith(canary, { asked: rig.model.requests[0]!.path })).toEqual(['asked']);
    // Nobody listens there.
    const told = await ask('http://127.0.0.1:1').catch(String);
    expect(told).toContain("can't be reached");
    const log = rig.platform.logLines();
    expect(JSON.stringify(log)).toContain('http://127.0.0.1:1/[redacted]/v1');
    const tables = await dumpTables(rig.platform.platform.store);
    expect(placesWith(canary, { told, log, ...tables })).toEqual([]);
  });

  it('says nothing of a key that no header takes (attack 46)', async () => {
    const canary = newCanary();
    await rig.client.call('put_secret', { name: 'two-lines', value: `${canary.core}\nx-evil: 1` });
    const talk = await rig.agent({ parameters: { ...rig.parameters, apiKey: '${vault:two-lines}' } });
    const error = await talk.say({ text: 'x' }).catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(rig.model.requests).toEqual([]);
    const tables = await dumpTables(rig.platform.platform.store);
    expect(placesWith(canary, { error, log: rig.platform.logLines(), ...tables })).toEqual([]);
  });

  it.each([
    '../../v1/files',
    'x?alt=json&',
    'x#',
    'a/../../b',
    '%2e%2e/b',
    'x\ny',
    '//evil.example/a',
    'a\\..\\b',
    '.',
  ])('asks Google for a model and at no other address of it: %j', async model => {
    const parameters = { model, baseUrl: rig.model.baseUrl('gemini'), apiKey: 'k' };
    await expect(rig.agent({ type: 'gemini', parameters })).rejects.toThrow('must be the name of a model');
  });

  it('asks Google for a model under the names that it has', async () => {
    for (const model of ['gemini-3.5-flash', 'models/gemini-2.5-pro', 'tunedModels/my-model@1:x']) {
      const parameters = { model, baseUrl: rig.model.baseUrl('gemini'), apiKey: 'k' };
      const talk = await rig.agent({ type: 'gemini', parameters });
      const { requests } = await talk.say({ text: 'Hello.' });
      expect(requests.map(({ path }) => path)).toEqual([
        `/v1beta/${model.includes('/') ? '' : 'models/'}${model}:streamGenerateContent?alt=sse`,
      ]);
    }
  });

  it.each([
    ['the same name twice', '{"mark":"a","mark":"b"}'],
    ['a prototype', '{"mark":"a","__proto__":{"admin":true}}'],
    ['a NUL', '{"mark":"a\\u0000b"}'],
    ['half a character', '{"mark":"\\ud800"}'],
    ['fifty thousand levels', `{"mark":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
    ['a list', '[{"mark":"a"}]'],
  ])(
    'has no tool called with arguments that hold %s, and the model reads that (attack 27)',
    async (_, input) => {
      await rig.register('shop', { url: server.url, gated: false });
      const talk = await rig.agent({ mcpServers: ['shop'] });
      const { told, response } = await talk.say({ calls: [{ name: 'shop__buy', input }] }, { text: 'Done.' });
      expect(told).toMatchObject([{ text: expect.stringContaining('INVALID_ARGUMENTS') }]);
      expect(response).toBe('Done.');
      expect(server.received.filter(({ method }) => method === 'tools/call')).toEqual([]);
    },
  );

  it.each(['constructor', 'toString', 'hasOwnProperty', '__proto__'])(
    'is told the result of a tool that is called %s (attack 27)',
    async name => {
      server.tools = [tool(name)];
      await rig.register('shop', { url: server.url, gated: false, prefix: '' });
      const talk = await rig.agent({ mcpServers: ['shop'] });
      const mark = newMark();
      const { told, offered } = await talk.say({ calls: [{ name, input: { mark } }] }, { text: 'Done.' });
      expect(told[0]!.text).toContain(offered.includes(name) ? `\n${mark}\n` : 'TOOL_NOT_FOUND');
    },
  );

  it('puts no secret where a model asks for one, and takes no words of one for a template (attack 46)', async () => {
    const canary = newCanary();
    await rig.client.call('put_secret', { name: 'wanted', value: canary.core });
    await rig.register('shop', { url: server.url, gated: false });
    const wish = '${vault:wanted} {{ 7 | times: 6 }} ${caller:token}';
    const talk = await rig.agent({ mcpServers: ['shop'] });
    const { requests, told, answer } = await talk.say(
      { text: wish, calls: [buy(wish)] },
      { text: `So: ${wish}` },
    );
    expect(server.executions(wish)).toBe(1);
    expect(told[0]!.text).toContain(wish);
    expect(answer.agentResponse).toContain(`So: ${wish}`);
    const { received } = server;
    const places = { asked: requests.map(({ body }) => body), received, answer };
    expect(placesWith(canary, { ...places, log: rig.platform.logLines() })).toEqual([]);
  });

  it('spends no more than it may, however much is called at once (attack 54)', async () => {
    await rig.register('shop', { url: server.url, gated: false, cost: { usd: 0.5 } });
    const talk = await rig.agent({ mcpServers: ['shop'] }, { budget: { usdPerConversation: 1 } });
    const marks = Array.from({ length: 64 }, newMark);
    const sent = () => marks.filter(mark => server.executions(mark) > 0).length;
    const { told, response } = await talk.say({ calls: marks.map(mark => buy(mark)) }, { text: 'Enough.' });
    expect(sent()).toBe(2);
    expect(told.filter(({ text }) => text.startsWith('BUDGET_EXCEEDED'))).toHaveLength(62);
    expect(response).toBe('Enough.');
    await expect(talk.say({ calls: [buy(newMark())] })).rejects.toThrow('has spent 1 of the 1');
  });

  it('spends no more than it may when many calls were approved at once (attack 54)', async () => {
    await rig.register('shop', { url: server.url, gated: true, cost: { usd: 0.5 } });
    const talk = await rig.agent({ mcpServers: ['shop'] }, { budget: { usdPerConversation: 1 } });
    const marks = Array.from({ length: 20 }, newMark);
    const sent = () => marks.filter(mark => server.executions(mark) > 0).length;
    await talk.say({ calls: marks.map(mark => buy(mark)) }, { text: 'Enough.' });
    expect(sent()).toBe(0);
    const { conversationId } = talk;
    await rig.client.call('resume_conversation', { conversationId, verdict: 'APPROVED' });
    const state = async () => (await rig.client.call('get_approval_status', { conversationId })).state;
    await expect.poll(state).toBe('READY');
    expect(sent()).toBe(2);
  });

  it('tells whoever talks to it neither where its model is nor what that says of a failure, and its author both (attack 50)', async () => {
    const mark = newMark();
    const closed = `http://127.0.0.1:1/${mark}`;
    const ways = [
      { parameters: { model: 'any', baseUrl: `${closed}/v1` }, told: "can't be reached" },
      { parameters: { model: 'any', baseUrl: `http://10.0.0.7/${mark}` }, told: 'may not be reached' },
      { parameters: rig.parameters, told: 'refused the request (status 400)' },
    ];
    for (const { parameters, told } of ways) {
      const talk = await rig.agent({ parameters, retry: { maxAttempts: 1 } });
      rig.model.play([{ status: 400, message: `No ${mark} for org-7 at http://10.0.0.7/` }]);
      const { agentId, conversationId } = talk;
      const failed = rig.client.call('talk_to_agent', { agentId, conversationId, message: 'Hello' });
      const error: Error = await failed.then(
        () => new Error('none'),
        thrown => thrown,
      );
      expect(error.message).toContain(told);
      const read = await rig.client.call('read_conversation', { conversationId });
      const heard = JSON.stringify([error.message, read.conversationOutputs]);
      expect(heard).not.toMatch(new RegExp(`${mark}|org-7|127\\.0\\.0\\.1|10\\.0\\.0\\.7`));
      const { entries } = await rig.client.call('read_audit_trail', { conversationId });
      expect(JSON.stringify(entries)).toContain(mark);
    }
  });

  it('has spent all it may when its model says that it used more than there is (attack 54)', async () => {
    const prices = { inputPricePer1M: 1_000_000, outputPricePer1M: 1_000_000 };
    const talk = await rig.agent(prices, { budget: { usdPerConversation: 1 } });
    const usage = { inputTokens: 1e308, outputTokens: 1e308 };
    expect((await talk.say({ text: 'Much.', usage })).response).toBe('Much.');
    await expect(talk.say({ text: 'More.' })).rejects.toThrow('US dollars it may spend');
    expect(rig.model.requests).toEqual([]);
  });

  it.each([301, 302, 303, 307, 308])(
    'is led nowhere by a model that answers with status %i (attack 32)',
    async status => {
      const parameters = { ...rig.parameters, baseUrl: `${server.url.replace('/mcp', '')}/v1`, apiKey: 'k' };
      const seen: unknown[] = [];
      server.instead = (_, response) => {
        seen.push(status);
        response.writeHead(status, { location: `${rig.model.baseUrl('chat-completions')}/chat/completions` });
        response.end();
      };
      const talk = await rig.agent({ parameters, retry: { maxAttempts: 1 } });
      await expect(talk.say({ text: 'Led.' })).rejects.toThrow('The OpenAI-compatible server');
      expect(seen).toEqual([status]);
      expect(rig.model.requests).toEqual([]);
    },
  );

  it('ends a request to a model that only keeps its connection open, when its time is over (attack 39)', async () => {
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    server.instead = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const drip = setInterval(() => response.write(': still here\n\n'), 50);
      response.on('close', () => {
        clearInterval(drip);
        resolve();
      });
    };
    const parameters = { model: 'any', baseUrl: server.url, timeout: 1_000 };
    const retry = { maxAttempts: 1 };
    const talk = await rig.agent({ parameters, streamingTimeoutSeconds: 3_600, retry });
    await expect(talk.say()).rejects.toThrow('took longer than 1000 ms');
    await gone;
  });

  it('ends a turn whose model calls tools without end (attack 39)', async () => {
    await rig.register('shop', { url: server.url, gated: false });
    const talk = await rig.agent({ mcpServers: ['shop'], maxToolIterations: 100 });
    rig.model.play(() => ({ calls: Array.from({ length: 60 }, () => buy('x'.repeat(15_000))) }));
    const { agentId, conversationId } = talk;
    const failed = rig.client.call('talk_to_agent', { agentId, conversationId, message: 'Go.' });
    await expect(failed).rejects.toThrow('steps of work');
  });

  it('shows what it waits for to who may decide, and to nobody else (attack 24)', async () => {
    await rig.register('shop', { url: server.url, gated: true });
    const talk = await rig.agent({ mcpServers: ['shop'] });
    const mark = newMark();
    await talk.say({ calls: [buy(mark)] }, { text: 'Done.' });
    const { conversationId } = talk;
    const seenBy = async (role: Role) => {
      const { key } = await rig.platform.addPerson([role]);
      const client = createClient({ baseUrl: rig.platform.url, token: key, fetch });
      const heard = await Promise.all([
        client.call('list_pending_approvals', {}).catch(String),
        client.call('get_approval_status', { conversationId, detail: 'full' }).catch(String),
      ]);
      const decided = client.call('resume_conversation', {
        conversationId,
        verdict: 'REJECTED',
        pauseId: 'other',
      });
      return { heard: JSON.stringify(heard), refused: await decided.then(() => '', String) };
    };
    for (const role of ['patchbay-viewer', 'patchbay-user', 'patchbay-editor'] as const) {
      const { heard, refused } = await seenBy(role);
      expect(heard).not.toMatch(new RegExp(`${mark}|shop__buy|${conversationId}`));
      expect(refused).toContain('Access denied');
    }
    const { heard, refused } = await seenBy('patchbay-approver');
    expect(heard).toContain(mark);
    expect(refused).toContain('does not wait for this approval');
  });

  it('shows a person what an HTTP call would send, and none of its secrets, also where the model would put more into it (attacks 46 and 47)', async () => {
    const canary = newCanary();
    await rig.client.call('put_secret', { name: 'of-shop', value: canary.core });
    const request = {
      ...{ method: 'POST', path: '/${vault:of-shop}/{{ to }}', contentType: 'application/json' },
      ...{ body: '{"key":"${vault:of-shop}","to":"{{ to }}"}', queryParams: { key: '${vault:of-shop}' } },
      headers: { authorization: 'Bearer ${vault:of-shop}' },
    };
    const pay = { name: 'pay', actions: ['never'], parameters: { to: '' }, request };
    const { origin } = new URL(server.url);
    const sent: string[] = [];
    server.instead = ({ path, headers, params }, response) => {
      sent.push(path);
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.end(JSON.stringify([path, headers, params]));
    };
    const body = { targetServerUrl: origin, httpCalls: [pay] };
    const { uri } = await rig.client.call('create_document', { type: 'httpcalls', body });
    const hitlConfig = { toolApprovals: { requireApproval: ['http.POST:/*'] } };
    const talk = await rig.agent({ tools: [uri] }, { hitlConfig });
    const wishes = ['ann', '..', 'x\r\nevil: 1', '"}, {"admin":"1'];
    await talk.say({ calls: wishes.map(to => ({ name: 'pay', input: { to } })) }, { text: 'Done.' });
    const { conversationId } = talk;
    const status = () => rig.client.call('get_approval_status', { conversationId, detail: 'full' });
    const waits = await status();
    const ways = ['ann', 'x%0D%0Aevil%3A%201', '%22%7D%2C%20%7B%22admin%22%3A%221'];
    expect(waits.pendingToolCalls?.map(({ gateReason }) => gateReason)).toEqual(
      ways.map(way => expect.stringContaining(`POST ${origin}/[redacted]/${way}?key=[redacted]`)),
    );
    const tables = () => dumpTables(rig.platform.platform.store);
    expect(placesWith(canary, { waits, ...(await tables()) })).toEqual([]);
    await rig.client.call('resume_conversation', { conversationId, verdict: 'APPROVED' });
    await expect.poll(async () => (await status()).state).toBe('READY');
    expect(sent.toSorted()).toEqual(ways.map(way => `/${canary.core}/${way}?key=${canary.core}`).toSorted());
    const told = rig.model.requests.map(({ body: asked }) => asked);
    expect(placesWith(canary, { told, log: rig.platform.logLines(), ...(await tables()) })).toEqual([]);
  });

  it('makes no HTTP calls that another author has written, with what those may use (attack 24)', async () => {
    const author = async () => {
      const { key } = await rig.platform.addPerson(['patchbay-editor']);
      return createClient({ baseUrl: rig.platform.url, token: key, fetch });
    };
    const [ann, bob] = await Promise.all([author(), author()]);
    const request = { path: '/pay', headers: { authorization: 'Bearer ${vault:of-ann}' } };
    const body = {
      targetServerUrl: server.url,
      httpCalls: [{ name: 'pay', actions: ['never'], parameters: { to: '' }, request }],
    };
    const { uri } = await ann.call('create_document', { type: 'httpcalls', body });
    const main = { id: 'main', type: 'openai-compatible', parameters: rig.parameters, tools: [uri] };
    const deploy = (client: typeof ann, agent: string) =>
      client.call('deploy_agent_file', { file: { agent, name: agent, llm: { tasks: [main] } } });
    await deploy(ann, 'of-ann');
    await expect(deploy(bob, 'of-bob')).rejects.toThrow('is not there');
  });
});

describe.each(platforms)('what no store likes, from a model at $kind', ({ start }) => {
  let platform: TestPlatform;
  let model: ScriptedModel;
  let server: FaultServer;
  beforeAll(async () => {
    [model, server] = await Promise.all([startScriptedModel(), startFaultServer('legacy')]);
    platform = await start({ env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
  });
  afterAll(async () => {
    await platform?.close();
    await Promise.all([model, server].map(one => one?.[Symbol.asyncDispose]()));
  });

  it('ends no turn: U+0000 and half characters in texts, thoughts, names, ids and arguments (attack 27)', async () => {
    server.tools = [tool('buy')];
    const client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    await client.call('add_server', { name: 'shop', wait: true, options: { url: server.url, gated: false } });
    const parameters = { model: 'any', baseUrl: model.baseUrl('chat-completions') };
    const main = { id: 'main', type: 'openai-compatible', parameters, mcpServers: ['shop'] };
    const file = { agent: 'odd', name: 'Odd', llm: { tasks: [main] } };
    await client.call('deploy_agent_file', { file });
    const odd = 'o\0d\ud800d';
    model.play([
      {
        text: ['A', odd],
        reasoning: odd,
        calls: [
          { name: `shop__${odd}`, input: '{}', id: odd },
          { name: 'shop__buy', input: `{"mark":"${odd}"}` },
          { name: 'shop__buy', input: { mark: newMark() } },
        ],
      },
      { text: 'Done.' },
    ]);
    const { agentResponse } = await client.call('chat_with_agent', { agentId: 'odd', message: 'Go.' });
    expect(agentResponse).toContain('Done.');
    const told = model.requests.at(-1)!.messages.filter(({ role }) => role === 'tool');
    expect(told).toHaveLength(3);
  });
});
