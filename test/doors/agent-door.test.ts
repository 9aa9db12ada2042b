import { createClient } from '@patchbay/contract/client';
import { isAgentId } from '@patchbay/contract/ids';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteDeploymentsOf } from '../../packages/server/src/store/tables/deployments.ts';
import { platforms } from './platforms.ts';
import { callTool, post, rpc, startTool, type WireAnswer } from './wire.ts';

let platform: TestPlatform;
/** A second agent of the same owner, not MCP-enabled, and one of somebody else. */
let other: { userId: string; key: string };

const agentFile = (agent: string, mcpEnabled: boolean) => ({
  agent,
  name: `The ${agent}`,
  description: `Answers as ${agent}`,
  mcp_enabled: mcpEnabled,
  rules: {
    behaviorGroups: [
      {
        name: 'all',
        rules: [
          {
            name: 'greet',
            actions: ['greet'],
            conditions: [{ type: 'actionmatcher', configs: { actions: 'CONVERSATION_START' } }],
          },
          { name: 'answer', actions: ['answer'], conditions: [] },
        ],
      },
    ],
  },
  output: {
    outputSet: [
      { action: 'greet', outputs: [{ valueAlternatives: [{ type: 'text', text: 'Welcome.' }] }] },
      {
        action: 'answer',
        outputs: [{ valueAlternatives: [{ type: 'text', text: '{{ input }} was said' }] }],
        quickReplies: [{ value: 'more' }],
      },
    ],
  },
});

const talk = (args: Record<string, unknown>, options: Parameters<typeof callTool>[3] = {}, agent = 'echo') =>
  callTool(platform.agentUrl(agent), agent, args, { key: platform.operatorKey, ...options });
const textOf = (answer: WireAnswer) => answer.body.result.content[0].text;

describe.each(platforms)('the agent door of $kind', ({ start }) => {
  beforeAll(async () => {
    platform = await start();
    const owner = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    await owner.call('deploy_agent_file', { file: agentFile('echo', true) });
    await owner.call('deploy_agent_file', { file: agentFile('hidden', false) });
    other = await platform.addPerson(['patchbay-editor']);
    const theirs = createClient({ baseUrl: platform.url, token: other.key, fetch });
    await theirs.call('deploy_agent_file', { file: agentFile('foreign', true) });
  });
  afterAll(() => platform?.close());

  describe('the one tool of an agent', () => {
    it('is listed at once, without a handshake, from the agent card (B-01, B-02, B-03, B-04, B-40, B-41, B-50, B-51, B-52, B-53, B-54, B-62, B-87)', async () => {
      const list = () =>
        rpc(platform.agentUrl('echo'), 'tools/list', undefined, { key: platform.operatorKey });
      const { status, headers, body } = await list();
      expect(status).toBe(200);
      expect(headers.get('content-type')).toContain('application/json');
      expect(body.result.tools).toHaveLength(1);
      const [tool] = body.result.tools;
      expect(tool).toMatchObject({ name: 'echo', title: 'The echo', description: 'Answers as echo' });
      expect(tool.inputSchema).toMatchObject({
        type: 'object',
        required: ['message'],
        properties: { message: { type: 'string' }, context_id: { type: 'string' } },
      });
      expect((await list()).body).toEqual(body);
    });

    it('answers a call with text content, as plain JSON for a bare request (B-42, B-57, B-63)', async () => {
      const answer = await talk({ message: 'hi there' });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({
        jsonrpc: '2.0',
        id: 1,
        result: { content: [{ type: 'text', text: 'hi there was said' }] },
      });
      expect(Object.keys(answer.body).sort()).toEqual(['id', 'jsonrpc', 'result']);
    });

    it('streams progress as the agent emits its reply, then exactly one result under the same id (B-58, B-63)', async () => {
      const answer = await callTool(
        platform.agentUrl('demo'),
        'demo',
        { message: 'show progress' },
        { key: platform.operatorKey, stream: true },
      );
      const messages: { method?: string; id?: number; params?: { progress: number }; result?: unknown }[] =
        answer.body;
      expect(messages.length).toBeGreaterThan(2);
      expect(messages.slice(0, -1).every(message => message.method === 'notifications/progress')).toBe(true);
      expect(messages.slice(0, -1).map(message => message.params?.progress)).toEqual(
        messages.slice(0, -1).map((_, index) => index + 1),
      );
      expect(messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ type: 'text' }] } });
    });

    it('implements four methods in the older eras and refuses every other (B-46, B-47, B-48, B-49)', async () => {
      const url = platform.agentUrl('echo');
      const options = { key: platform.operatorKey };
      const hello = {
        protocolVersion: '2024-11-05',
        capabilities: { tools: {} },
        clientInfo: { name: 'claude-desktop', version: '0.7.0' },
      };
      for (let again = 0; again < 2; again += 1) {
        const { body } = await rpc(url, 'initialize', hello, options);
        expect(body.result).toMatchObject({
          protocolVersion: '2024-11-05',
          capabilities: { tools: {} },
          serverInfo: { name: 'echo' },
        });
      }
      expect((await rpc(url, 'ping', undefined, options)).body.result).toEqual({});
      expect((await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, options)).status).toBe(
        202,
      );
      for (const method of [
        'resources/list',
        'prompts/list',
        'completion/complete',
        'logging/setLevel',
        'tasks/list',
        'no/such',
      ]) {
        const { body } = await rpc(url, method, {}, options);
        expect(body.error?.code, method).toBe(-32601);
      }
    });

    it('refuses another tool name (B-59)', async () => {
      const answer = await callTool(
        platform.agentUrl('echo'),
        'demo',
        { message: 'x' },
        { key: platform.operatorKey },
      );
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatchObject({ code: -32602, data: { code: 'invalid_param' } });
    });
  });

  describe('arguments', () => {
    it.each([
      ['an empty message (B-78)', { message: '' }, /message/],
      ['no message', {}, /message/],
      ['a message of another type', { message: 5 }, /message/],
      ['a malformed context_id', { message: 'x', context_id: 'conv_1' }, /context_id/],
      ['an idempotency key of another type', { message: 'x', idempotency_key: 5 }, /idempotency_key/],
      ['a file nobody uploaded', { message: 'x', attachments: [{ file_id: 'f' }] }, /attachments/],
    ])(
      'refuses %s with 400 invalid_param, an integer code and the string beside it (B-85)',
      async (_name, args, names) => {
        for (const stream of [false, true]) {
          const answer = await talk(args, { stream });
          expect(answer.status).toBe(400);
          expect(answer.body).toMatchObject({
            id: 1,
            error: { code: -32602, message: expect.stringMatching(names), data: { code: 'invalid_param' } },
          });
        }
      },
    );

    it('answers a call without a message as a tool error in the stateless era, where a model should read it', async () => {
      const meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const headers = {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'echo',
      };
      const ask = (args: object) =>
        rpc(
          platform.agentUrl('echo'),
          'tools/call',
          { name: 'echo', arguments: args, _meta: meta },
          { key: platform.operatorKey, headers },
        );
      const missing = await ask({});
      expect(missing.status).toBe(200);
      expect(missing.body.result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('message') }],
      });
      expect((await ask({ message: '' })).status).toBe(400);
    });

    it('lets members pass that it does not know: structure is the business of the agent (B-55, B-56)', async () => {
      const message = JSON.stringify({ any: ['structure'] });
      const answer = await talk({ message, attachments: [], idempotency_key: 'structured', color: 'blue' });
      expect(textOf(answer)).toBe(`${message} was said`);
    });
  });

  describe('continuity', () => {
    it('starts afresh without a context_id (B-69, B-71)', async () => {
      const answers = [await talk({ message: 'a' }), await talk({ message: 'b' })];
      const contexts = answers.map(answer => answer.body.result.structuredContent.context_id);
      expect(new Set(contexts).size).toBe(2);
    });

    it('goes on in the conversation a context_id names, its own or one made by REST (B-70)', async () => {
      const owner = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
      const { conversationId } = await owner.call('create_conversation', { agentId: 'echo' });
      const first = await talk({ message: 'one', context_id: conversationId });
      expect(first.body.result.structuredContent.context_id).toBe(conversationId);
      await talk({ message: 'two', context_id: conversationId });
      const { log } = await owner.call('read_conversation_log', { conversationId });
      expect(log).toMatch(/one[\s\S]*one was said[\s\S]*two[\s\S]*two was said/);
    });

    it('answers an unknown and a foreign context_id with the same 403 (decision 3)', async () => {
      const theirs = createClient({ baseUrl: platform.url, token: other.key, fetch });
      const foreign = await theirs.call('create_conversation', { agentId: 'foreign' });
      const demo = await createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch }).call(
        'create_conversation',
        { agentId: 'demo' },
      );
      const answers = await Promise.all(
        [foreign.conversationId, demo.conversationId, `conv_${'a'.repeat(26)}`].map(context_id =>
          talk({ message: 'x', context_id }),
        ),
      );
      for (const answer of answers) {
        expect(answer.status).toBe(403);
        expect(answer.body).toEqual(answers[0]!.body);
        expect(answer.body.error).toMatchObject({ code: 403, data: { code: 'forbidden' } });
      }
    });

    it('keeps the conversations of an agent key apart from those of its owner', async () => {
      const byKey = await callTool(
        platform.agentUrl('demo'),
        'demo',
        { message: 'hello' },
        { key: platform.agentKey },
      );
      const { context_id } = byKey.body.result.structuredContent;
      const asOwner = await callTool(
        platform.agentUrl('demo'),
        'demo',
        { message: 'hello', context_id },
        { key: platform.operatorKey },
      );
      expect(asOwner.status).toBe(403);
      const again = await callTool(
        platform.agentUrl('demo'),
        'demo',
        { message: 'hello', context_id },
        { key: platform.agentKey },
      );
      expect(again.status).toBe(200);
    });
  });

  describe('idempotency', () => {
    it('runs the agent once for one key and repeats the answer (B-66, B-84)', async () => {
      const first = await talk({ message: 'once', idempotency_key: 'k1' });
      const again = await talk({ message: 'once', idempotency_key: 'k1' }, { stream: true });
      const repeated = Array.isArray(again.body) ? again.body.at(-1) : again.body;
      expect(repeated.result).toEqual(first.body.result);
    });

    it('answers 409 conflict while the first call is in flight (B-83)', async () => {
      const args = { message: 'show progress', idempotency_key: 'k2' };
      const options = { key: platform.operatorKey };
      const slow = await startTool(platform.agentUrl('demo'), 'demo', args, options);
      const during = await callTool(platform.agentUrl('demo'), 'demo', args, options);
      expect(during.status).toBe(409);
      expect(during.body.error).toMatchObject({
        code: 409,
        data: { code: 'conflict' },
        message: expect.stringContaining('duplicate idempotency key'),
      });
      expect((await slow.answer).body.at(-1)).toHaveProperty('result');
    });

    it('refuses the key with other arguments, saying so', async () => {
      await talk({ message: 'a', idempotency_key: 'k3' });
      const answer = await talk({ message: 'b', idempotency_key: 'k3' });
      expect(answer.status).toBe(409);
      expect(answer.body.error.message).toContain('other arguments');
    });

    it('is separate for another principal and another agent', async () => {
      const key = 'k4';
      const mine = await callTool(
        platform.agentUrl('demo'),
        'demo',
        { message: 'hello', idempotency_key: key },
        { key: platform.operatorKey },
      );
      const theirs = await callTool(
        platform.agentUrl('demo'),
        'demo',
        { message: 'hello', idempotency_key: key },
        { key: platform.agentKey },
      );
      const elsewhere = await talk({ message: 'hello', idempotency_key: key });
      const contexts = [mine, theirs, elsewhere].map(
        answer => answer.body.result.structuredContent.context_id,
      );
      expect(new Set(contexts).size).toBe(3);
    });
  });

  describe('a busy conversation', () => {
    it('answers 409 conflict and has not processed the message', async () => {
      const opening = await callTool(
        platform.agentUrl('demo'),
        'demo',
        { message: 'hello' },
        { key: platform.operatorKey },
      );
      const { context_id } = opening.body.result.structuredContent;
      const slow = await startTool(
        platform.agentUrl('demo'),
        'demo',
        { message: 'show progress', context_id },
        { key: platform.operatorKey },
      );
      const during = await callTool(
        platform.agentUrl('demo'),
        'demo',
        { message: 'not now', context_id },
        { key: platform.operatorKey },
      );
      expect(during.status).toBe(409);
      expect(during.body.error.data.code).toBe('conflict');
      await slow.answer;
      const owner = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
      const { log } = await owner.call('read_conversation_log', { conversationId: context_id });
      expect(log).not.toContain('not now');
    });
  });

  describe('credentials', () => {
    const list = (agent: string, options: Parameters<typeof rpc>[3]) =>
      rpc(platform.agentUrl(agent), 'tools/list', undefined, options);

    it('takes a user key for every MCP-enabled agent of its owner (B-10, B-14, B-15, B-40)', async () => {
      for (const agent of ['echo', 'demo']) {
        const { body } = await list(agent, { key: platform.operatorKey });
        expect(body.result.tools[0].name).toBe(agent);
      }
    });

    it('takes an agent key in either header and in both, for its one agent (B-16, B-17, B-20, B-45)', async () => {
      const own = { 'x-agent-api-key': platform.agentKey };
      const bearer = { authorization: `Bearer ${platform.agentKey}` };
      for (const headers of [own, bearer, { ...own, ...bearer }] as Record<string, string>[]) {
        expect((await list('demo', { headers })).status).toBe(200);
      }
    });

    it('answers every credential that does not open the agent, and every agent that is not there to be opened, alike (B-09, B-11, B-15, B-17, B-18, B-19, B-21, B-22, B-23, B-24, B-75, B-77)', async () => {
      const { keys, owner } = platform.platform;
      const revoked = await keys.createUserKey(owner.id, { name: 'revoked', scopes: ['agents'] });
      await keys.revoke(owner.id, revoked.record.id);
      const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
      const attempts: [string, string, Record<string, string>][] = [
        ['no credential', 'echo', {}],
        ['a key nobody minted', 'echo', bearer(`oag_${'0'.repeat(64)}`)],
        ['a revoked key', 'echo', bearer(revoked.token)],
        ['an agent key of another agent', 'echo', bearer(platform.agentKey)],
        ['a user key for an agent of somebody else', 'foreign', bearer(platform.operatorKey)],
        ['somebody else for ours', 'echo', bearer(other.key)],
        ['an agent that is not MCP-enabled', 'hidden', bearer(platform.operatorKey)],
        ['an agent that is not there', 'nobody', bearer(platform.operatorKey)],
        ['an id no agent can have', 'NO', bearer(platform.operatorKey)],
        ['a reserved id', 'oauth', bearer(platform.operatorKey)],
        [
          'two different credentials',
          'demo',
          { ...bearer(platform.operatorKey), 'x-agent-api-key': platform.agentKey },
        ],
        ['a user key in the header of agent keys', 'echo', { 'x-agent-api-key': platform.operatorKey }],
        ['the token of the local owner', 'echo', bearer(platform.ownerToken)],
        ['a token of no form', 'echo', bearer('abc')],
        ['another scheme', 'echo', { authorization: `Basic ${platform.operatorKey}` }],
      ];
      const expected = {
        status: 401,
        challenge: `Bearer realm="MCP", resource_metadata="${platform.url}/.well-known/oauth-protected-resource/AGENT/mcp", scope="agents"`,
        body: {
          jsonrpc: '2.0',
          id: null,
          error: {
            code: 401,
            message: 'A credential that opens this agent is needed.',
            data: { code: 'unauthorized' },
          },
        },
      };
      for (const [name, agent, headers] of attempts) {
        const answer = await list(agent, { headers });
        // What no agent can be called is told of all agents.
        const path = isAgentId(agent) ? `resource/${agent}/mcp"` : 'resource"';
        const challenge = answer.headers.get('www-authenticate')?.replace(path, 'resource/AGENT/mcp"');
        expect({ status: answer.status, challenge, body: answer.body }, name).toEqual(expected);
      }
    });

    it('ends with the moment of revocation, other keys untouched (B-23, B-43)', async () => {
      const { keys, owner } = platform.platform;
      const [first, second] = [
        await keys.createUserKey(owner.id, { name: 'a', scopes: ['agents'] }),
        await keys.createUserKey(owner.id, { name: 'b', scopes: ['agents'] }),
      ];
      expect((await list('echo', { key: first.token })).status).toBe(200);
      await keys.revoke(owner.id, first.record.id);
      expect((await list('echo', { key: first.token })).status).toBe(401);
      expect((await list('echo', { key: second.token })).status).toBe(200);
      expect((await list('demo', { key: platform.agentKey })).status).toBe(200);
    });

    it('does not reach another agent through a session of the first one, nor cancel its calls (B-09)', async () => {
      const hello = {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'x', version: '1' },
      };
      const key = platform.operatorKey;
      const opened = await rpc(platform.agentUrl('demo'), 'initialize', hello, { key });
      const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id')! };
      expect((await list('demo', { key, headers })).status).toBe(200);
      expect((await list('echo', { key, headers })).status).toBe(404);
      const running = callTool(
        platform.agentUrl('demo'),
        'demo',
        { message: 'show progress' },
        { key, headers },
      );
      const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
      expect((await post(platform.agentUrl('echo'), cancel, { key, headers })).status).toBe(404);
      expect((await post(platform.agentUrl('echo'), cancel, { key })).status).toBe(202);
      expect((await running).status).toBe(200);
    });
  });

  describe('an agent that cannot answer', () => {
    it('is 503 agent_service_unavailable once it is no longer deployed (B-81)', async () => {
      const owner = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
      await owner.call('deploy_agent_file', { file: agentFile('gone', true) });
      await platform.platform.store.commit(db => deleteDeploymentsOf(db, 'gone'));
      const answer = await callTool(
        platform.agentUrl('gone'),
        'gone',
        { message: 'x' },
        { key: platform.operatorKey, stream: true },
      );
      expect(answer.status).toBe(503);
      expect(answer.body.error).toMatchObject({ code: 503, data: { code: 'agent_service_unavailable' } });
    });

    it('is 504 service_timeout when its turn takes longer than its limit, and remembers nothing of it (B-64, B-68)', async () => {
      const hasty = await start({ env: { PATCHBAY_TURN_TIMEOUT_SECONDS: '1' } });
      try {
        const args = { message: 'show progress' };
        const options = { key: hasty.operatorKey };
        const json = await callTool(hasty.agentUrl('demo'), 'demo', args, options);
        expect(json.status).toBe(504);
        expect(json.body.error).toMatchObject({ code: 504, data: { code: 'service_timeout' } });
        const stream = await callTool(hasty.agentUrl('demo'), 'demo', args, { ...options, stream: true });
        expect(stream.body.at(-1).error).toMatchObject({ code: 504, data: { code: 'service_timeout' } });
        const owner = createClient({ baseUrl: hasty.url, token: hasty.operatorKey, fetch });
        expect((await owner.call('list_conversations', { agentId: 'demo' })).count).toBe(0);
      } finally {
        await hasty.close();
      }
    });
  });
});
