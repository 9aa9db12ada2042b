import { OPERATIONS } from '@patchbay/contract/operations';
import { TIERS } from '@patchbay/contract/roles';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUILT_IN_TOOLS } from '../../packages/server/src/agents/document/built-in-tools.ts';
import { argumentsOf, CATALOGUE, membersOf } from './catalogue.ts';
import { platforms } from './platforms.ts';
import { callTool, post, rpc, statusWithHost, toolError } from './wire.ts';

let platform: TestPlatform;

interface ListedTool {
  readonly name: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, { readonly default?: unknown }>>;
  readonly required?: readonly string[];
}

const call = (name: string, args: Record<string, unknown>, key = platform.operatorKey) =>
  callTool(platform.operatorUrl, name, args, { key });

async function listTools(): Promise<ListedTool[]> {
  const { body } = await rpc(platform.operatorUrl, 'tools/list', {}, { key: platform.operatorKey });
  return body.result.tools;
}

const byName = (one: { readonly name: string }, other: { readonly name: string }) =>
  one.name.localeCompare(other.name);

/** The rows of the catalogue in the order of the list, then what the list does not have. */
function inOrderOf(list: readonly ListedTool[], rows: readonly unknown[][]): unknown[][] {
  const places = new Map(list.map(({ name }, place) => [name, place]));
  const place = ([name]: unknown[]) => places.get(String(name)) ?? list.length;
  return rows.toSorted((one, other) => place(one) - place(other));
}

describe.each(platforms)('the operator door of $kind', ({ start, lacks }) => {
  beforeAll(async () => {
    platform = await start();
  });
  afterAll(() => platform?.close());

  describe('the list of tools', () => {
    it('holds exactly the documented tools with their arguments, required ones and defaults (E-07, E-12, E-13, E-15, E-18, E-26, E-72, E-75)', async () => {
      const documented = Object.entries(CATALOGUE).map(([name, tool]) => [
        name,
        argumentsOf(tool).toSorted(byName),
      ]);
      expect(
        (await listTools()).map(({ name, inputSchema: { properties, required = [] } }) => [
          name,
          Object.entries(properties)
            .map(([argument, schema]) => ({
              name: argument,
              required: required.includes(argument),
              default: schema.default === undefined ? undefined : String(schema.default),
            }))
            .toSorted(byName),
        ]),
      ).toEqual(inOrderOf(await listTools(), documented));
    });

    it('says which members a result has, the documented ones and some of ours (E-26)', async () => {
      for (const { name, outputSchema } of await listTools()) {
        const { result } = CATALOGUE[name]!;
        if (result === undefined) continue;
        const members = Object.keys(outputSchema.properties).map(member => ({
          name: member,
          always: (outputSchema.required ?? []).includes(member),
        }));
        expect(members.toSorted(byName), name).toEqual(membersOf(result).toSorted(byName));
      }
    });

    it('gives every tool a title, a description and annotations', async () => {
      const { body } = await rpc(platform.operatorUrl, 'tools/list', {}, { key: platform.operatorKey });
      for (const tool of body.result.tools) {
        expect(tool.title, tool.name).toMatch(/^[A-Z]/);
        expect(tool.description.length, tool.name).toBeGreaterThan(20);
        expect(Object.keys(tool.annotations).sort()).toEqual([
          'destructiveHint',
          'idempotentHint',
          'openWorldHint',
          'readOnlyHint',
          'title',
        ]);
      }
    });

    it('says of exactly the tools after which an agent runs that they may reach other servers', async () => {
      const { body } = await rpc(platform.operatorUrl, 'tools/list', {}, { key: platform.operatorKey });
      const tools: { name: string; annotations: { openWorldHint: boolean } }[] = body.result.tools;
      const open = tools.filter(tool => tool.annotations.openWorldHint);
      expect(open.map(({ name }) => name).toSorted()).toEqual([
        'chat_managed',
        'chat_with_agent',
        'create_conversation',
        'resume_conversation',
        'talk_to_agent',
      ]);
    });

    it('leaves out what is not a tool, which is not callable either (E-73, E-74)', async () => {
      const hiddenTools = ['create_key', 'deploy_agent_file', ...BUILT_IN_TOOLS, 'no_such_tool'];
      for (const hidden of hiddenTools) {
        const { body } = await call(hidden, {});
        expect(body.error, hidden).toMatchObject({ code: -32602, message: `Unknown tool: ${hidden}` });
      }
    });
  });

  describe('arguments', () => {
    it('names a missing required argument and a null one alike, as a tool error, before anything runs (E-08, E-09, E-10, E-11, E-20, E-25)', async () => {
      for (const args of [{ message: 'x' }, { agentId: null, message: 'x' }]) {
        expect(toolError(await call('chat_with_agent', args))).toEqual({
          error: 'Missing required argument: agentId',
          errorCode: 'BAD_REQUEST',
        });
      }
      const { body } = await call('list_conversations', { agentId: 'demo' });
      expect(body.result.structuredContent.count).toBe(0);
    });

    it('may be left out when they are optional: a name is all a call needs (E-13, E-14)', async () => {
      for (const [name, tool] of Object.entries(CATALOGUE)) {
        if (argumentsOf(tool).some(argument => argument.required)) continue;
        const { body } = await call(name, {});
        expect(body.result.isError, name).toBeUndefined();
      }
    });

    it('refuses an unknown value and lists the valid ones (E-23)', async () => {
      expect(toolError(await call('list_agents', { environment: 'prod' }))).toEqual({
        error: 'Invalid argument environment: valid values are production, test',
        errorCode: 'BAD_REQUEST',
      });
    });

    it('takes environment for production where it is absent, blank or null (E-15, E-18)', async () => {
      for (const args of [{}, { environment: '' }, { environment: null }]) {
        const { body } = await call('discover_agents', args);
        expect(body.result.structuredContent.agents).toMatchObject([
          { agentId: 'demo', environment: 'production' },
        ]);
      }
      const { body } = await call('discover_agents', { environment: 'test' });
      expect(body.result.structuredContent).toEqual({ count: 0, agents: [] });
    });

    it('is ignored as environment in a conversation, which keeps its own (E-19)', async () => {
      const { body } = await call('create_conversation', { agentId: 'demo' });
      const { conversationId } = body.result.structuredContent;
      const talk = await call('talk_to_agent', {
        agentId: 'demo',
        conversationId,
        message: 'hello',
        environment: 'test',
      });
      expect(talk.body.result.structuredContent.environment).toBe('production');
      const read = await call('read_conversation', { conversationId, environment: 'nowhere' });
      expect(read.body.result.structuredContent.environment).toBe('production');
    });

    it('reads the latest version of an agent when none is named (E-16)', async () => {
      const { body } = await call('get_agent', { agentId: 'demo' });
      expect(body.result.structuredContent).toMatchObject({ agentId: 'demo', version: 1, name: 'Demo' });
      expect(toolError(await call('get_agent', { agentId: 'demo', version: 9 }))).toMatchObject({
        errorCode: 'NOT_FOUND',
      });
    });
  });

  describe('results', () => {
    it('carry JSON as text and as the same structured content, and no isError (E-21)', async () => {
      const { body } = await call('discover_agents', {});
      expect(Object.keys(body.result).sort()).toEqual(['content', 'structuredContent']);
      expect(JSON.parse(body.result.content[0].text)).toEqual(body.result.structuredContent);
    });

    it('match the output schema that was published with the tool', async () => {
      const { body } = await rpc(platform.operatorUrl, 'tools/list', {}, { key: platform.operatorKey });
      for (const definition of OPERATIONS.filter(candidate => candidate.tool)) {
        const published = body.result.tools.find((tool: { name: string }) => tool.name === definition.name);
        expect(published.outputSchema.type, definition.name).toBe('object');
        for (const example of definition.examples) {
          const answer = await call(definition.name, example);
          expect(
            definition.output.safeParse(answer.body.result.structuredContent).error,
            definition.name,
          ).toBeUndefined();
        }
      }
    });

    it('say what went wrong as an error with a code: not found, access denied, validation (E-20, E-28)', async () => {
      const other = await platform.addPerson(['patchbay-user']);
      const { body } = await call('create_conversation', { agentId: 'demo' });
      const { conversationId } = body.result.structuredContent;
      expect(toolError(await call('read_conversation', { conversationId: 'conv_nothing' }))).toMatchObject({
        errorCode: 'NOT_FOUND',
      });
      expect(toolError(await call('read_conversation', { conversationId }, other.key))).toMatchObject({
        errorCode: 'FORBIDDEN',
        error: 'Access denied: you do not own this conversation.',
      });
      expect(toolError(await call('read_docs', { name: '../secret' }))).toMatchObject({
        errorCode: 'BAD_REQUEST',
      });
      expect(toolError(await call('chat_with_agent', { agentId: 'nobody', message: 'x' }))).toMatchObject({
        errorCode: 'NOT_FOUND',
      });
    });

    it('are not idempotent where a tool creates: each call makes another (E-04)', async () => {
      const ids = await Promise.all(
        [1, 2].map(
          async () =>
            (await call('create_conversation', { agentId: 'demo' })).body.result.structuredContent
              .conversationId,
        ),
      );
      expect(new Set(ids).size).toBe(2);
      const { body } = await rpc(platform.operatorUrl, 'tools/list', {}, { key: platform.operatorKey });
      const tool = body.result.tools.find(
        (candidate: { name: string }) => candidate.name === 'create_conversation',
      );
      expect(tool.annotations.idempotentHint).toBe(false);
    });
  });

  describe('roles', () => {
    it('names the roles that would be admitted (E-20, E-45)', async () => {
      const viewer = await platform.addPerson(['patchbay-viewer']);
      expect(toolError(await call('list_agents', {}, viewer.key))).toEqual({
        error: `list_agents requires one of roles: ${TIERS.author.join(', ')}.`,
        errorCode: 'FORBIDDEN',
      });
    });

    it('let a viewer reach own conversations only (E-57)', async () => {
      const { body } = await call('create_conversation', { agentId: 'demo' });
      const viewer = await platform.addPerson(['patchbay-viewer']);
      const { conversationId } = body.result.structuredContent;
      for (const name of ['read_conversation', 'read_conversation_log']) {
        expect(toolError(await call(name, { conversationId }, viewer.key))).toMatchObject({
          errorCode: 'FORBIDDEN',
        });
      }
      const list = await call('list_conversations', { agentId: 'demo' }, viewer.key);
      expect(list.body.result.structuredContent.conversations).toEqual([]);
    });
  });

  describe('documentation', () => {
    it('lists page names, one a line, and reads a page as its markdown', async () => {
      const list = (await call('list_docs', {})).body.result;
      expect(list.content[0].text.split('\n')).toEqual(list.structuredContent.docs);
      expect(list.structuredContent.docs).toContain('getting-started');
      const page = (await call('read_docs', { name: 'getting-started' })).body.result;
      expect(page.content[0].text).toBe(page.structuredContent.markdown);
      expect(page.content[0].text).toMatch(/^# Getting started/);
    });

    it('tells an invalid name from an absent page, and neither says where pages live (E-68, E-71)', async () => {
      const invalid = toolError(await call('read_docs', { name: '../package.json' }));
      const absent = toolError(await call('read_docs', { name: 'no-such-page' }));
      expect(invalid?.errorCode).toBe('BAD_REQUEST');
      expect(absent?.errorCode).toBe('NOT_FOUND');
      expect(`${invalid?.error} ${absent?.error}`).not.toMatch(/\/docs|main|work/);
    });

    it('is there as resources: an index and a template (E-65)', async () => {
      const options = { key: platform.operatorKey };
      const list = await rpc(platform.operatorUrl, 'resources/list', {}, options);
      expect(list.body.result.resources.map((resource: { uri: string }) => resource.uri)).toContain(
        'patchbay://docs/index',
      );
      const templates = await rpc(platform.operatorUrl, 'resources/templates/list', {}, options);
      expect(templates.body.result.resourceTemplates).toMatchObject([
        { uriTemplate: 'patchbay://docs/{name}' },
      ]);
      const index = await rpc(
        platform.operatorUrl,
        'resources/read',
        { uri: 'patchbay://docs/index' },
        options,
      );
      expect(index.body.result.contents[0].text).toContain('patchbay://docs/getting-started');
      for (const uri of ['patchbay://docs/connect', 'eddi://docs/connect']) {
        const page = await rpc(platform.operatorUrl, 'resources/read', { uri }, options);
        expect(page.body.result.contents).toMatchObject([
          { uri, mimeType: 'text/markdown', text: expect.stringMatching(/^# Connect/) },
        ]);
      }
      const unknown = await rpc(
        platform.operatorUrl,
        'resources/read',
        { uri: 'patchbay://docs/nothing' },
        options,
      );
      expect(unknown.body.error.code).toBe(-32602);
    });

    it('answers a role refusal of a resource as JSON-RPC error -32005 (E-67)', async () => {
      const nobody = await platform.addPerson([]);
      for (const [method, params] of [
        ['resources/read', { uri: 'patchbay://docs/index' }],
        ['resources/list', {}],
        ['resources/templates/list', {}],
      ] as const) {
        const { body } = await rpc(platform.operatorUrl, method, params, { key: nobody.key });
        expect(body.error.code, method).toBe(-32005);
      }
    });
  });

  describe('getting in', () => {
    it('needs a credential for every request, and says so in the standard way (E-35, E-36)', async () => {
      for (const method of ['tools/list', 'initialize', 'resources/list', 'ping']) {
        const { status, headers } = await rpc(platform.operatorUrl, method, {});
        expect(status, method).toBe(401);
        expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
      }
    });

    it.each([
      ['an agent key', () => platform.agentKey],
      ['a key nobody minted', () => `oag_${'0'.repeat(64)}`],
      ['a token of no form', () => 'secret'],
    ])('refuses %s', async (_name, key) => {
      expect((await rpc(platform.operatorUrl, 'tools/list', {}, { key: key() })).status).toBe(401);
    });

    it('refuses a user key without the operator scope', async () => {
      const { token } = await platform.platform.keys.createUserKey(platform.platform.owner.id, {
        name: 'a',
        scopes: ['agents'],
      });
      expect((await rpc(platform.operatorUrl, 'tools/list', {}, { key: token })).status).toBe(401);
    });

    it.skipIf(lacks('the token of the local owner'))(
      'takes the local owner token from this machine only as long as no page or proxy is in between',
      async () => {
        const list = (headers: Record<string, string>) =>
          rpc(platform.operatorUrl, 'tools/list', {}, { key: platform.ownerToken, headers });
        expect((await list({})).status).toBe(200);
        expect((await list({ origin: platform.url })).status).toBe(401);
        expect((await list({ 'x-forwarded-for': '127.0.0.1' })).status).toBe(401);
        expect((await list({ forwarded: 'for=127.0.0.1' })).status).toBe(401);
      },
    );

    it('refuses foreign Host and Origin headers, so that no page can rebind a name to us', async () => {
      const { status } = await rpc(
        platform.operatorUrl,
        'tools/list',
        {},
        { key: platform.operatorKey, headers: { origin: 'https://evil.example' } },
      );
      expect(status).toBe(403);
      const ask = {
        method: 'POST',
        key: platform.operatorKey,
        body: { jsonrpc: '2.0', id: 1, method: 'ping' },
      };
      const { host } = new URL(platform.operatorUrl);
      expect(await statusWithHost(platform.operatorUrl, host, ask)).toBe(200);
      for (const foreign of ['evil.example', '127.0.0.1.evil.example', '169.254.169.254', '0.0.0.0']) {
        expect(await statusWithHost(platform.operatorUrl, foreign, ask), foreign).toBe(403);
      }
    });

    it('ignores a key in the address', async () => {
      expect(
        (await rpc(`${platform.operatorUrl}?access_token=${platform.operatorKey}`, 'tools/list', {})).status,
      ).toBe(401);
    });
  });

  describe('what the log gets', () => {
    it('has the trace of a caller that sends one', async () => {
      const traceId = 'a'.repeat(32);
      const headers = { traceparent: `00-${traceId}-${'b'.repeat(16)}-01` };
      await rpc(platform.operatorUrl, 'tools/list', {}, { headers });
      expect(platform.logLines()).toContainEqual(
        expect.objectContaining({ traceId, reason: 'no-credential' }),
      );
    });

    it('never has a key in it', async () => {
      await post(platform.operatorUrl, `{"key": "${platform.operatorKey}"`, { key: platform.operatorKey });
      await rpc(platform.operatorUrl, 'tools/list', {}, { key: platform.ownerToken.replace(/.$/, 'x') });
      const text = JSON.stringify(platform.logLines());
      expect(text.length).toBeGreaterThan(100);
      for (const secret of [platform.operatorKey, platform.ownerToken, platform.agentKey])
        expect(text).not.toContain(secret);
    });
  });
});
