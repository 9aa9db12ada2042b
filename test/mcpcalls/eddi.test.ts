import { randomBytes } from 'node:crypto';
import { type Client, createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newCanary, placesWith } from '../canary.ts';
import { platforms } from '../doors/platforms.ts';
import { conversationOf, heardOf } from './talk.ts';
import { startToolServer, type ToolServer } from './tool-server.ts';

describe.each(platforms)('mcpcalls as EDDI has it, at $kind', ({ start, lacks }) => {
  let platform: TestPlatform;
  let client: Client;
  let server: ToolServer;
  beforeAll(async () => {
    server = await startToolServer('legacy');
    platform = await start({
      env: {
        PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
        PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex'),
      },
    });
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  });
  afterAll(async () => {
    await platform?.close();
    await server?.[Symbol.asyncDispose]();
  });

  function ask(method: string, path: string, body?: unknown, key = platform.operatorKey): Promise<Response> {
    return fetch(platform.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  it('is created under its path of the seed, strictly (E-77)', async () => {
    const made = await ask('POST', '/mcpcallsstore/mcpcalls', { mcpServerUrl: server.url, name: 'Tools' });
    expect(made.status).toBe(201);
    const { resourceId, version, resourceUri } = (await made.json()) as Record<string, string>;
    expect(made.headers.get('location')).toBe(`/mcpcallsstore/mcpcalls/${resourceId}?version=${version}`);
    expect(resourceUri).toBe(`patchbay://mcpcalls/${resourceId}?version=1`);
    expect(
      (await client.call('read_resource', { resourceType: 'mcpcalls', resourceId: resourceId! }))
        .configuration,
    ).toMatchObject({ name: 'Tools' });
    const wrong = await ask('POST', '/mcpcallsstore/mcpcalls', {
      mcpServerUrl: server.url,
      transport: 'stdio',
    });
    expect({ status: wrong.status, body: await wrong.text() }).toMatchObject({
      status: 400,
      body: expect.stringContaining('transport'),
    });
    const { key } = await platform.addPerson(['patchbay-user']);
    expect((await ask('POST', '/mcpcallsstore/mcpcalls', {}, key)).status).toBe(403);
  });

  it('is tried out before it is written, by who may write it (EX-02)', async () => {
    const canary = { ...newCanary(), value: '' };
    canary.value = `k${canary.core}`;
    const query = new URLSearchParams({ url: server.url, apiKey: canary.value });
    const path = `/mcpcallsstore/mcpcalls/discover-tools?${query}`;
    const answer = await ask('GET', path);
    expect(answer.status).toBe(200);
    const { tools } = (await answer.json()) as { tools: { name: string; inputSchema: object }[] };
    expect(tools.find(({ name }) => name === 'typed')?.inputSchema).toMatchObject({ type: 'object' });
    expect(placesWith(canary, { log: platform.logLines() })).toEqual([]);
    const { key } = await platform.addPerson(['patchbay-user']);
    expect((await ask('GET', path, undefined, key)).status).toBe(403);
    for (const [wrong, status, says] of [
      [{ url: 'http://127.0.0.1:9/mcp' }, 503, 'cannot be asked'],
      [{ url: 'npx server' }, 400, 'mcpServerUrl'],
      [{ url: server.url, transport: 'sse' }, 400, 'transport'],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what is refused
      [{ url: server.url, apiKey: '${vault:any}' }, 400, 'apiKey'],
      [{ url: 'http://169.254.169.254/mcp' }, 503, 'cannot be asked'],
    ] as const) {
      const refused = await ask(
        'GET',
        `/mcpcallsstore/mcpcalls/discover-tools?${new URLSearchParams(wrong)}`,
      );
      expect({ status: refused.status, body: await refused.text() }).toMatchObject({
        status,
        body: expect.stringContaining(says),
      });
    }
    await expect(client.call('discover_mcp_tools', { url: server.url, limit: 2 })).resolves.toMatchObject({
      count: tools.length,
      tools: [{ name: 'echo' }, { name: 'typed' }],
    });
  });

  it.skipIf(lacks('one configuration'))(
    'is tried out only where the check of the configuration lets documents go',
    async () => {
      platform.platform.registry.configure({
        default: { servers: {}, source: 'code', check: () => 'not in this house' },
      });
      await expect(client.call('discover_mcp_tools', { url: server.url })).rejects.toThrow(
        'not in this house',
      );
      platform.platform.registry.configure({});
      expect((await client.call('discover_mcp_tools', { url: server.url })).count).toBeGreaterThan(0);
    },
  );

  it('is a step of a workflow, any number of them, and is carried to another platform (E-95)', async () => {
    const create = async (resourceType: string, body: unknown) =>
      (await client.call('create_resource', { resourceType, config: JSON.stringify(body) })).resourceId;
    const call = { actions: ['go'], toolName: 'echo' };
    const mcpcalls = async (name: string) =>
      `eddi://ai.labs.mcpcalls/mcpcallsstore/mcpcalls/${await create('mcpcalls', {
        mcpServerUrl: server.url,
        transport: 'http',
        toolsWhitelist: [],
        mcpCalls: [
          { ...call, name, toolArguments: { from: name }, saveResponse: true, continueOnError: false },
        ],
      })}?version=1`;
    const rules = await create('behavior', {
      expressionsAsActions: true,
      behaviorGroups: [{ name: 'all', rules: [{ name: 'speak', actions: ['speak'] }] }],
    });
    const dictionary = await create('dictionaries', { words: [{ word: 'go', expressions: 'go' }] });
    const text = '{{ memory.current.mcpCalls | json }}';
    const output = await create('output', {
      outputSet: [{ action: 'speak', outputs: [{ valueAlternatives: [{ type: 'text', text }] }] }],
    });
    const dictionaries = [
      {
        type: 'eddi://ai.labs.parser.dictionaries.regular',
        config: { uri: `eddi://ai.labs.dictionary/dictionarystore/dictionaries/${dictionary}?version=1` },
      },
    ];
    const workflow = await client.call('create_document', {
      type: 'workflow',
      body: {
        workflowSteps: [
          { type: 'eddi://ai.labs.parser', extensions: { dictionaries } },
          {
            type: 'eddi://ai.labs.behavior',
            config: { uri: `eddi://ai.labs.rules/rulestore/rulesets/${rules}?version=1` },
          },
          { type: 'eddi://ai.labs.mcpcalls', config: { uri: await mcpcalls('first') } },
          { type: 'eddi://ai.labs.mcpcalls', config: { uri: await mcpcalls('second') } },
          {
            type: 'eddi://ai.labs.output',
            config: { uri: `eddi://ai.labs.output/outputstore/outputsets/${output}?version=1` },
          },
          { type: 'eddi://ai.labs.templating' },
        ],
      },
    });
    const { agentId } = await client.call('create_agent', {
      name: 'From elsewhere',
      workflowUris: `eddi://ai.labs.workflow/workflowstore/workflows/${workflow.id}?version=1`,
    });
    await client.call('deploy_agent', { agentId, version: 1 });
    const both = {
      firstResponse: { received: { from: 'first' } },
      secondResponse: { received: { from: 'second' } },
    };
    expect(await heardOf(client, await conversationOf(client, agentId), 'go')).toEqual(both);

    const exported = await client.call('export_agent', { agentId });
    const other = await start({ env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
    try {
      const there = createClient({ baseUrl: other.url, token: other.operatorKey, fetch });
      await there.call('import_agent', { file: exported });
      await there.call('deploy_agent', { agentId, version: 1 });
      expect(await heardOf(there, await conversationOf(there, agentId), 'go')).toEqual(both);
    } finally {
      await other.close();
    }
  });
});
