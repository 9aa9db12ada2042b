// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${caller:token} are the product's own syntax
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient } from '@patchbay/contract/client';
import type { Role } from '@patchbay/contract/roles';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { startScriptedModel } from '@patchbay/testing/scripted-model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dumpTables } from '../canary.ts';
import { callTool } from '../doors/wire.ts';
import { toolCallingAgent } from '../mcpcalls/calling-agent.ts';
import { conversationOf, heardOf } from '../mcpcalls/talk.ts';
import { type ProtectedServer, startProtectedServer } from './servers/protected-server.ts';

const PRIVATE = { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' };
/** Anybody may list, and somebody has to call. */
const wantsSomebody = () =>
  startProtectedServer({
    tools: ['look'],
    refuse: token => (token === undefined ? { status: 401, challenge: 'Bearer' } : undefined),
    say: authorization => `you came with ${authorization}`,
  });
const NOT_SENT = { answerError: { code: 'AUTHENTICATION_FAILED', sent: false } };

/** A person at a platform, and what they do there. */
async function personAt(platform: TestPlatform, roles: readonly Role[]) {
  const { userId, key } = await platform.addPerson(roles);
  return { userId, key, client: await clientAt(platform, key) };
}

/** Where the platform listens, whatever its public address is. */
async function localUrl({ dataDir }: TestPlatform): Promise<string> {
  const file = JSON.parse(await readFile(join(dataDir, 'local-owner'), 'utf8')) as { url: string };
  return file.url;
}

async function clientAt(platform: TestPlatform, token: string): Promise<Client> {
  return createClient({ baseUrl: await localUrl(platform), token, fetch });
}

let made = 0;
/** Deploys an agent that calls the tool of a server when it hears `go`, and answers its id. */
async function callingAgent(client: Client, document: object, more: object = {}): Promise<string> {
  made += 1;
  const id = `as-caller-${made}`;
  const mcpcalls = { apiKey: '${caller:token}', mcpCalls: [{ name: 'go', toolName: 'look' }], ...document };
  await client.call('deploy_agent_file', { file: { ...toolCallingAgent(id, mcpcalls), ...more } });
  return id;
}

const say = async (client: Client, agentId: string) =>
  heardOf(client, await conversationOf(client, agentId), 'go');

describe('A server at the address of the platform that is called as the caller', () => {
  let server: ProtectedServer;
  let elsewhere: ProtectedServer;
  let platform: TestPlatform;
  let owner: Client;
  beforeAll(async () => {
    [server, elsewhere] = await Promise.all([wantsSomebody(), wantsSomebody()]);
    platform = await startTestPlatform({
      env: { ...PRIVATE, PATCHBAY_PUBLIC_URL: new URL(server.url).origin },
    });
    owner = await clientAt(platform, platform.operatorKey);
  });
  afterAll(async () => {
    await platform?.close();
    await Promise.all([server[Symbol.asyncDispose](), elsewhere[Symbol.asyncDispose]()]);
  });

  it('gets the token of whoever talks, with their calls only, over one connection (E-88, E-91, E-93)', async () => {
    const agent = await callingAgent(owner, { mcpServerUrl: server.url });
    const ann = await personAt(platform, ['patchbay-admin']);
    const bob = await personAt(platform, ['patchbay-admin']);
    const [hers, his] = await Promise.all([say(ann.client, agent), say(bob.client, agent)]);
    expect(new Set(server.executed)).toEqual(new Set([`Bearer ${ann.key}`, `Bearer ${bob.key}`]));
    // What the server repeats of it is taken out.
    expect([hers, his]).toEqual([
      { answer: 'you came with Bearer [redacted]' },
      { answer: 'you came with Bearer [redacted]' },
    ]);
    const others = server.heard.filter(({ method }) => method !== 'tools/call');
    expect(others.map(({ authorization }) => authorization)).toEqual(others.map(() => undefined));
    expect(others.filter(({ method }) => method === 'server/discover')).toHaveLength(1);
    expect(elsewhere.heard).toEqual([]);
  });

  it('gets it from calls of a model, too, whose list of tools is nobody’s (E-88, E-91)', async () => {
    await using model = await startScriptedModel();
    const ann = await personAt(platform, ['patchbay-admin']);
    const agent = 'as-caller-by-model';
    const parameters = { model: 'any', baseUrl: model.baseUrl('chat-completions') };
    await owner.call('deploy_agent_file', {
      file: {
        ...{ agent, name: 'Helper' },
        llm: { tasks: [{ id: 'main', type: 'openai-compatible', parameters }] },
        mcpcalls: { mcpServerUrl: server.url, apiKey: '${caller:token}' },
      },
    });
    const before = server.executed.length;
    const conversation = await conversationOf(ann.client, agent);
    model.play([{ calls: [{ name: 'look', input: {} }] }, { text: 'Seen.' }]);
    const { agentResponse } = await ann.client.call('talk_to_agent', { ...conversation, message: 'Look.' });
    expect(agentResponse).toBe('Seen.');
    expect(server.executed.slice(before)).toEqual([`Bearer ${ann.key}`]);
    expect(JSON.stringify(model.requests)).not.toContain(ann.key);
  });

  it('is told of it behind the word that the configuration writes (E-81)', async () => {
    const agent = await callingAgent(owner, { mcpServerUrl: server.url, apiKey: 'Token ${caller:token}' });
    await say(owner, agent);
    expect(server.executed.at(-1)).toBe(`Token ${platform.operatorKey}`);
  });

  it('is not what another origin is, which gets nothing (E-89, E-90, attack 15)', async () => {
    const agent = await callingAgent(owner, { mcpServerUrl: elsewhere.url });
    expect(await say(owner, agent)).toMatchObject(NOT_SENT);
    expect(elsewhere.heard.map(({ authorization }) => authorization)).not.toContain(
      `Bearer ${platform.operatorKey}`,
    );
    expect(elsewhere.heard.filter(({ method }) => method === 'tools/call')).toEqual([]);
  });

  it('is all that sees a token of ours: no other server does, whatever it has of its own (attack 15)', async () => {
    const { registry } = platform.platform;
    const ann = await personAt(platform, ['patchbay-admin']);
    const open = await startProtectedServer({ tools: ['look'], refuse: () => undefined });
    try {
      await registry.add({
        ...{ instance: 'default', name: 'keyed', replace: false, by: 'test' },
        options: { url: open.url, headers: { authorization: 'Bearer its-own-key' }, gated: false },
      });
      const agents = [
        await callingAgent(owner, { mcpServerUrl: open.url, apiKey: undefined }),
        await callingAgent(owner, { mcpServerUrl: 'patchbay:servers/keyed', apiKey: undefined }),
      ];
      for (const agent of agents) for (const person of [ann.client, owner]) await say(person, agent);
      expect(open.heard.filter(({ method }) => method === 'tools/call')).toHaveLength(4);
      const seen = JSON.stringify(open.heard);
      for (const key of [ann.key, platform.operatorKey, platform.ownerToken, platform.agentKey])
        expect(seen).not.toContain(key);
      expect(seen).toContain('its-own-key');
    } finally {
      await registry.remove({ scope: 'default', name: 'keyed' });
      await open[Symbol.asyncDispose]();
    }
  });

  it('gets nothing from an agent of somebody who may do less than an admin, but from their own', async () => {
    const author = await personAt(platform, ['patchbay-editor']);
    const agent = await callingAgent(author.client, { mcpServerUrl: server.url });
    const before = server.executed.length;
    expect(await say(owner, agent)).toMatchObject(NOT_SENT);
    expect(server.executed).toHaveLength(before);
    await say(author.client, agent);
    expect(server.executed.slice(before)).toEqual([`Bearer ${author.key}`]);
  });

  it('gets nothing in a conversation of somebody else', async () => {
    const ann = await personAt(platform, ['patchbay-admin']);
    const agent = await callingAgent(owner, { mcpServerUrl: server.url });
    const conversation = await conversationOf(ann.client, agent);
    const before = server.executed.length;
    expect(await heardOf(owner, conversation, 'go')).toMatchObject(NOT_SENT);
    expect(server.executed).toHaveLength(before);
  });

  it('gets neither the token of the command line nor the key of an agent', async () => {
    const agent = await callingAgent(owner, { mcpServerUrl: server.url });
    const before = server.executed.length;
    const local = await clientAt(platform, platform.ownerToken);
    expect(await say(local, agent)).toMatchObject(NOT_SENT);
    const { key } = await local.call('create_agent_key', { agentId: agent, name: 'k' });
    const answer = await callTool(
      `${await localUrl(platform)}/${agent}/mcp`,
      agent,
      { message: 'go' },
      { key },
    );
    expect(JSON.stringify(answer.body)).toContain('AUTHENTICATION_FAILED');
    expect(server.executed).toHaveLength(before);
  });

  it('gets nothing from a turn that runs in the background, and the log says why (E-90, EX-14)', async () => {
    const agent = await callingAgent(owner, { mcpServerUrl: server.url });
    const before = server.executed.length;
    const { task_id } = await owner.call('create_task', { agentId: agent, message: 'go' });
    await expect.poll(async () => (await owner.call('read_task', { task_id })).status).toBe('completed');
    expect(server.executed).toHaveLength(before);
    expect(platform.logLines().map(({ reason }) => String(reason))).toContainEqual(
      expect.stringContaining('nobody is there whose identity it may get'),
    );
  });

  it('gets nothing from a turn that has waited, though the same person goes on with it (E-90)', async () => {
    const agent = await callingAgent(
      owner,
      { mcpServerUrl: server.url },
      {
        rules: {
          expressionsAsActions: true,
          behaviorGroups: [
            {
              name: 'go',
              rules: [
                {
                  ...{ name: 'go', actions: ['speak', 'PAUSE_CONVERSATION'] },
                  conditions: [{ type: 'inputmatcher', configs: { expressions: 'go' } }],
                },
                { name: 'else', actions: ['speak'], conditions: [] },
              ],
            },
          ],
        },
      },
    );
    const conversation = await conversationOf(owner, agent);
    const before = server.executed.length;
    await owner.call('talk_to_agent', { ...conversation, message: 'go' });
    await owner.call('resume_conversation', {
      conversationId: conversation.conversationId,
      verdict: 'APPROVED',
    });
    await expect
      .poll(async () =>
        JSON.stringify(
          await owner.call('read_conversation', { conversationId: conversation.conversationId }),
        ),
      )
      .toContain('AUTHENTICATION_FAILED');
    expect(server.executed).toHaveLength(before);
  });

  it('is nowhere written down (E-90, attack 46)', async () => {
    const ann = await personAt(platform, ['patchbay-admin']);
    const agent = await callingAgent(owner, { mcpServerUrl: server.url });
    await say(ann.client, agent);
    const places = { tables: await dumpTables(platform.platform.store), logs: platform.logLines() };
    expect(JSON.stringify(places)).not.toContain(ann.key);
    expect(JSON.stringify(server.executed)).toContain(ann.key);
  });
});

describe('An HTTP call as the caller', () => {
  let platform: TestPlatform;
  let owner: Client;
  beforeAll(async () => {
    platform = await startTestPlatform({ env: PRIVATE });
    owner = await clientAt(platform, platform.operatorKey);
  });
  afterAll(() => platform?.close());

  let asked = 0;
  async function askingAgent(client: Client, targetServerUrl: string, request: object): Promise<string> {
    asked += 1;
    const agent = `asks-${asked}`;
    await client.call('deploy_agent_file', {
      file: {
        ...{ agent, name: agent },
        dictionary: { words: [{ word: 'go', expressions: 'go' }] },
        rules: {
          expressionsAsActions: true,
          behaviorGroups: [{ name: 'all', rules: [{ name: 'speak', actions: ['speak'], conditions: [] }] }],
        },
        httpcalls: {
          targetServerUrl,
          httpCalls: [
            {
              name: 'ask',
              actions: ['go'],
              responseObjectName: 'answer',
              saveResponse: true,
              continueOnError: true,
              request,
            },
          ],
        },
        output: {
          outputSet: [
            {
              action: 'speak',
              outputs: [{ valueAlternatives: [{ type: 'text', text: '{{ httpCalls | json }}' }] }],
            },
          ],
        },
      },
    });
    return agent;
  }
  const headers = { Authorization: 'Bearer ${caller:token}' };

  it('reaches this platform with the rights of who talks, in its headers (E-88, EX-14)', async () => {
    const agent = await askingAgent(owner, platform.url, {
      method: 'GET',
      path: '/api/v1/api-keys',
      headers,
    });
    const ann = await personAt(platform, ['patchbay-admin']);
    const heard = JSON.stringify(await say(ann.client, agent));
    const own = await ann.client.call('list_keys', {});
    expect(heard).toContain(own.keys[0]!.id);
    expect(heard).not.toContain(ann.key);
  });

  it('has no token for another port, name or scheme of this machine (E-89, EX-14)', async () => {
    await using other = await startProtectedServer();
    for (const url of [new URL(other.url).origin, platform.url.replace('127.0.0.1', 'localhost')]) {
      const agent = await askingAgent(owner, url, { method: 'GET', path: '/mcp', headers });
      expect(await say(owner, agent)).toMatchObject({
        answerError: { code: 'REFERENCE_UNRESOLVED', sent: false },
      });
    }
    expect(other.heard).toEqual([]);
  });

  it.each([
    ['its path', { path: '/${caller:token}' }],
    ['its query', { path: '/', queryParams: { t: '${caller:token}' } }],
    ['its body', { path: '/', method: 'POST', body: '{"t":"${caller:token}"}' }],
  ])('has no token in %s: such a document is refused (EX-14)', async (_, request) => {
    const deployed = askingAgent(owner, platform.url, { method: 'GET', ...request });
    await expect(deployed).rejects.toThrow('${caller:token} stands in headers only');
  });
});

describe('A platform that gives the identity of callers to nobody', () => {
  it('refuses configuration that asks for it, when it is deployed (E-94)', async () => {
    await using server = await wantsSomebody();
    const platform = await startTestPlatform({
      env: {
        ...PRIVATE,
        PATCHBAY_PUBLIC_URL: new URL(server.url).origin,
        PATCHBAY_CALLER_IDENTITY_ENABLED: 'false',
      },
    });
    try {
      const owner = await clientAt(platform, platform.operatorKey);
      await expect(callingAgent(owner, { mcpServerUrl: server.url })).rejects.toThrow(
        'callerIdentity.enabled is false',
      );
      expect(server.heard).toEqual([]);
    } finally {
      await platform.close();
    }
  });
});
