// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startToolServer } from '../mcpcalls/tool-server.ts';
import { type Asked, startToolsRig, type Talk, type ToolsRig } from './tools-rig.ts';

interface Request {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers `{"path": ..., "key": ...}`, or what the test says. */
async function startShop() {
  const requests: Request[] = [];
  const answers: { readonly status: number; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    requests.push({ line: `${method} ${url}`, headers, body: Buffer.concat(chunks).toString() });
    const { status, body } = answers.shift() ?? {
      status: 200,
      body: JSON.stringify({ path: url, key: headers.authorization }),
    };
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ host, url: `http://${host}`, requests, answers },
    lines: () => requests.map(({ line }) => line),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const WEATHER = {
  name: 'weather',
  description: 'The weather of a place.',
  parameters: { place: 'Name of the place', days: '' },
  request: { path: '/weather/{{ place }}', queryParams: { days: '{{ days }}' } },
};
const ORDER = {
  name: 'order',
  parameters: { what: 'What to order' },
  request: {
    method: 'POST',
    path: '/orders',
    contentType: 'application/json',
    body: '{"what": "{{ what }}", "by": "{{ userInfo.userId }}"}',
  },
};

describe('HTTP calls that a model makes', () => {
  let rig: ToolsRig;
  let shop: Awaited<ReturnType<typeof startShop>>;
  beforeAll(async () => {
    rig = await startToolsRig();
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    shop = await startShop();
  });
  afterEach(() => shop[Symbol.asyncDispose]());

  const agent = (httpCalls: readonly object[], task: object = {}, more: object = {}): Promise<Talk> =>
    rig.agent(task, { httpcalls: { targetServerUrl: shop.url, httpCalls }, ...more });
  const call = (name: string, input: object) => ({ calls: [{ name, input }] });
  const textsOf = ({ told }: Asked) => told.map(({ text }) => text);

  it('are those with parameters, each a tool with all of them required (platform.md 3.5, 3.7)', async () => {
    const talk = await agent([WEATHER, { name: 'quiet', request: { path: '/quiet' } }]);
    const asked = await talk.say(call('weather', { place: 'Győr/..', days: 3 }), { text: 'Sunny.' });
    expect(asked.requests[0]!.tools).toEqual([
      {
        name: 'weather',
        description: 'The weather of a place.',
        schema: {
          type: 'object',
          properties: {
            place: { type: 'string', description: 'Name of the place' },
            days: { type: 'string' },
          },
          required: ['place', 'days'],
          additionalProperties: false,
        },
      },
    ]);
    expect(shop.lines()).toEqual(['GET /weather/Gy%C5%91r%2F..?days=3']);
    expect(textsOf(asked)[0]).toMatch(/from outside: tool "weather" of server "127\.0\.0\.1:\d+"/);
    expect(textsOf(asked)[0]).toContain('{"path":"/weather/Gy%C5%91r%2F..?days=3"}');
    expect(asked.response).toBe('Sunny.');
  });

  it('take arguments as values: no template, no reference, nothing that leaves its place', async () => {
    const talk = await agent([WEATHER, ORDER]);
    const asked = await talk.say(
      {
        calls: [
          { name: 'weather', input: { place: '{{ userInfo.userId }}', days: '${vault:k}' } },
          { name: 'weather', input: { place: '{{ userInfo.userId }}', days: '1&x=2' } },
          { name: 'order', input: { what: '", "by": "somebody' } },
          { name: 'weather', input: { place: 'Pécs' } },
          { name: 'weather', input: { place: 'Pécs', days: ['1'] } },
          { name: 'order', input: { what: 'tea', price: '0' } },
        ],
      },
      { text: 'Done.' },
    );
    expect(shop.lines().toSorted()).toEqual([
      'GET /weather/%7B%7B%20userInfo.userId%20%7D%7D?days=1%26x%3D2',
      'POST /orders',
    ]);
    const ordered = shop.requests.find(({ line }) => line === 'POST /orders')!;
    expect(JSON.parse(ordered.body)).toEqual({
      what: '", "by": "somebody',
      by: expect.stringMatching(/^user_/),
    });
    const texts = textsOf(asked);
    expect(texts[0]).toMatch(/^INVALID_ARGUMENTS: the argument "days" holds a reference/);
    expect(texts[3]).toBe('INVALID_ARGUMENTS: the argument "days" must be a text');
    expect(texts[4]).toBe('INVALID_ARGUMENTS: the argument "days" must be a text');
    expect(texts[5]).toBe('INVALID_ARGUMENTS: there is no argument "price"');
  });

  it('are errors where the server says no, with what it says (W-47)', async () => {
    shop.answers.push({ status: 404, body: '{"error":"no such place"}' }, { status: 204, body: '' });
    const talk = await agent([WEATHER]);
    const one = await talk.say(call('weather', { place: 'x', days: '1' }), { text: 'No.' });
    expect(textsOf(one)[0]).toMatch(/HTTP 404\n\{"error":"no such place"\}/);
    const other = await talk.say(call('weather', { place: 'x', days: '1' }), { text: 'Hm.' });
    expect(textsOf(other)[0]).toContain('\nHTTP 204\n');
  });

  it('say what kept them from being made', async () => {
    const { url } = shop;
    await shop[Symbol.asyncDispose]();
    shop = await startShop();
    const talk = await rig.agent({}, { httpcalls: { targetServerUrl: url, httpCalls: [WEATHER] } });
    const asked = await talk.say(call('weather', { place: 'x', days: '1' }), { text: 'No.' });
    expect(textsOf(asked)[0]).toBe('SERVER_UNAVAILABLE: no connection could be made.');
  });

  it('are those of documents that a task names, too, and none where it says no', async () => {
    const { uri } = await rig.client.call('create_document', {
      type: 'httpcalls',
      body: { targetServerUrl: shop.url, httpCalls: [ORDER, WEATHER] },
    });
    const both = await agent([WEATHER], { tools: [uri] });
    expect((await both.say({ text: 'Hello.' })).offered).toEqual(['weather', 'order']);
    const none = await agent([WEATHER], { tools: [uri], enableHttpCallTools: false });
    expect((await none.say({ text: 'Hello.' })).offered).toEqual([]);
    await expect(rig.agent({ tools: ['patchbay://httpcalls/none?version=1'] })).rejects.toThrow('not there');
    await expect(rig.agent({ tools: ['patchbay://rules/demo?version=1'] })).rejects.toThrow('httpcalls');
  });

  it('of such documents remember things of the person, too', async () => {
    const remembering = {
      ...WEATHER,
      preRequest: { propertyInstructions: [{ name: 'home', valueString: '{{ place }}', scope: 'longTerm' }] },
    };
    const { uri } = await rig.client.call('create_document', {
      type: 'httpcalls',
      body: { targetServerUrl: shop.url, httpCalls: [remembering] },
    });
    const task = { tools: [uri], parameters: { ...rig.parameters, systemMessage: '{{ properties.home }}' } };
    const talk = await rig.agent(task);
    await talk.say(call('weather', { place: 'Pécs', days: '1' }), { text: 'Sunny.' });
    const { conversationId } = await rig.client.call('create_conversation', { agentId: talk.agentId });
    rig.model.play([{ text: 'Hello.' }]);
    await rig.client.call('talk_to_agent', {
      agentId: talk.agentId,
      conversationId: conversationId!,
      message: 'Hi.',
    });
    expect(rig.model.requests[0]!.system).toBe('Pécs');
  });

  it('keep their names whatever MCP servers call their tools', async () => {
    await using server = await startToolServer('modern', { weather: { answer: () => ({ content: [] }) } });
    const talk = await agent(
      [WEATHER],
      {},
      { mcpcalls: { mcpServerUrl: server.url, toolsWhitelist: ['weather', 'tells'] } },
    );
    const asked = await talk.say(call('weather', { place: 'x', days: '1' }), { text: 'Done.' });
    expect(asked.offered).toEqual(['weather', 'tells']);
    expect([shop.requests, server.calls].map(({ length }) => length)).toEqual([1, 0]);
  });

  it('do what their instructions say, in the order of the calls, each seeing the turn as it was before them', async () => {
    const remembering = {
      ...WEATHER,
      parameters: { place: '' },
      responseObjectName: 'found',
      preRequest: { propertyInstructions: [{ name: 'place', valueString: 'in {{ place }}' }] },
      request: { path: '/of', queryParams: { q: '{{ properties.place }}' } },
      postResponse: {
        propertyInstructions: [
          { name: 'said', valueString: '{{ properties.said }}[{{ httpCalls.found.path }}]' },
        ],
        outputBuildInstructions: [{ outputValue: 'Looked at {{ place }}.' }],
      },
    };
    const talk = await agent([remembering], {
      parameters: { ...rig.parameters, systemMessage: '{{ properties.place }} {{ properties.said }}' },
    });
    const { answer } = await talk.say(
      {
        calls: [
          { name: 'weather', input: { place: 'A' } },
          { name: 'weather', input: { place: 'B' } },
        ],
      },
      { text: 'Both.' },
    );
    expect(shop.lines().toSorted()).toEqual(['GET /of?q=in+A', 'GET /of?q=in+B']);
    expect(answer.agentResponseParts).toEqual(['Looked at A.', 'Looked at B.', 'Both.']);
    const next = await talk.say({ text: 'Hello.' });
    expect(next.requests[0]!.system).toBe('in B [/of?q=in+A][/of?q=in+B]');
  });

  describe('and a person must approve', () => {
    const hitlConfig = { toolApprovals: { requireApproval: ['http.post:/orders'] } };
    const keyed = {
      ...ORDER,
      request: { ...ORDER.request, headers: { authorization: 'Bearer ${vault:shop-key}' } },
      postResponse: { propertyInstructions: [{ name: 'ordered', valueString: '{{ what }}' }] },
    };
    beforeEach(() => rig.client.call('put_secret', { name: 'shop-key', value: 'open-sesame' }));

    it('and would be sent as whoever talks to the agent, who is not there any more then, nobody is asked (E-90)', async () => {
      const asCaller = {
        ...ORDER,
        request: { ...ORDER.request, headers: { authorization: 'Bearer ${caller:token}' } },
      };
      const talk = await agent([asCaller], {}, { hitlConfig });
      const asked = await talk.say(call('order', { what: 'tea' }), { text: 'No.' });
      expect(asked.answer.agentResponse).toBe('No.');
      expect(textsOf(asked).join()).toContain('it is sent as whoever talks to the agent');
      expect(shop.lines()).toEqual([]);
    });

    const waiting = async (talk: Talk) => {
      const asked = await talk.say(
        {
          calls: [
            { name: 'order', input: { what: 'tea' } },
            { name: 'weather', input: { place: 'x', days: '1' } },
          ],
        },
        { text: 'Ordered.' },
      );
      expect(asked.answer.status).toBe('PAUSED_FOR_APPROVAL');
      expect(shop.lines()).toEqual(['GET /weather/x?days=1']);
      return talk.conversationId;
    };
    const resume = async (conversationId: string, more: object = {}) => {
      await rig.client.call('resume_conversation', { conversationId, verdict: 'APPROVED', ...more });
      await expect
        .poll(async () => (await rig.client.call('get_approval_status', { conversationId })).state, {
          timeout: 10_000,
        })
        .toBe('READY');
      return JSON.stringify(rig.model.requests.at(-1)!.messages);
    };

    it('are sent once, as they were shown, and what they change is changed (platform.md 5.3)', async () => {
      const talk = await agent(
        [keyed, WEATHER],
        { parameters: { ...rig.parameters, systemMessage: 'Last: {{ properties.ordered }}' } },
        { hitlConfig },
      );
      const conversationId = await waiting(talk);
      const status = await rig.client.call('get_approval_status', { conversationId });
      expect(JSON.stringify(status)).toContain(`it would send POST ${shop.url}/orders`);
      const told = await resume(conversationId);
      expect(shop.lines()).toEqual(['GET /weather/x?days=1', 'POST /orders']);
      expect(shop.requests[1]!.headers.authorization).toBe('Bearer open-sesame');
      expect(told).toContain('/orders');
      expect(told).not.toContain('open-sesame');
      expect((await talk.say({ text: 'Hello.' })).requests[0]!.system).toBe('Last: tea');
    });

    it('are not sent when the request would be another one by then (attack 51)', async () => {
      const talk = await agent([keyed, WEATHER], {}, { hitlConfig });
      const conversationId = await waiting(talk);
      await rig.client.call('put_secret', { name: 'shop-key', value: 'another' });
      const told = await resume(conversationId);
      expect(told).toContain('APPROVAL_CHANGED: this call is not the one that was approved');
      expect(told).toContain('with which credentials');
      expect(shop.lines()).toEqual(['GET /weather/x?days=1']);
    });

    it('are sent with the arguments that whoever approved them wrote, unless anything else is another', async () => {
      const amend = async (change: () => unknown) => {
        const talk = await agent([keyed, WEATHER], {}, { hitlConfig });
        const conversationId = await waiting(talk);
        await change();
        const status = await rig.client.call('get_approval_status', { conversationId });
        const { callId } = status.pendingToolCalls![0]!;
        const decision = { verdict: 'APPROVED', amendedArguments: { what: 'coffee' } };
        return resume(conversationId, { toolDecisions: { [callId]: decision } });
      };
      expect(await amend(() => undefined)).toContain('changed the arguments');
      expect(shop.requests.map(({ body }) => body).filter(body => body.includes('coffee'))).toHaveLength(1);
      shop.requests.length = 0;
      const told = await amend(() => rig.client.call('put_secret', { name: 'shop-key', value: 'another' }));
      expect(told).toContain('APPROVAL_CHANGED');
      expect(shop.lines()).toEqual(['GET /weather/x?days=1']);
    });

    it('are denied where the policy of the task says so', async () => {
      const remove = {
        name: 'remove',
        parameters: { id: '' },
        request: { method: 'DELETE', path: '/{{ id }}' },
      };
      const talk = await agent([remove, WEATHER], {
        toolPolicy: [{ destructive: 'deny' }, { read_only: 'allow' }, { else: 'ask' }],
      });
      const asked = await talk.say(
        {
          calls: [
            { name: 'remove', input: { id: '1' } },
            { name: 'weather', input: { place: 'x', days: '1' } },
          ],
        },
        { text: 'No.' },
      );
      expect(textsOf(asked)[0]).toMatch(/^DENIED: this agent may not call "remove"/);
      expect(shop.lines()).toEqual(['GET /weather/x?days=1']);
    });
  });

  it('belong to documents that are listed, exported and put in place of others like any', async () => {
    const calls = (path: string) => ({
      targetServerUrl: shop.url,
      httpCalls: [{ name: 'look', parameters: {}, request: { path } }],
    });
    const { uri, id } = await rig.client.call('create_document', { type: 'httpcalls', body: calls('/old') });
    const talk = await rig.agent({ tools: [uri] });
    const { agentId } = talk;
    const { workflows } = await rig.client.call('list_agent_resources', { agentId });
    expect(workflows[0]!.extensions).toContainEqual(
      expect.objectContaining({ type: 'llm', resourceUri: uri }),
    );
    const exported = await rig.client.call('export_agent', { agentId });
    expect(exported.documents.map(document => document.id)).toContain(id);
    const next = await rig.client.call('update_document', {
      ...{ type: 'httpcalls', id, version: 1, body: calls('/new') },
    });
    const applied = await rig.client.call('apply_agent_changes', {
      agentId,
      agentVersion: 1,
      resourceMappings: JSON.stringify([{ oldUri: uri, newUri: next.uri }]),
      redeploy: true,
    });
    expect(applied).toMatchObject({ newAgentVersion: 2 });
    const { conversationId } = await rig.client.call('create_conversation', { agentId });
    rig.model.play([call('look', {}), { text: 'Done.' }]);
    await rig.client.call('talk_to_agent', { agentId, conversationId: conversationId!, message: 'Look.' });
    expect(shop.lines()).toEqual(['GET /new']);
  });
});
