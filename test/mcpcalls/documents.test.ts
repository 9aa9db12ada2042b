// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { type Client, createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEverything } from '../connections/servers/npm-server.ts';
import { toolCallingAgent } from './calling-agent.ts';
import { conversationOf, heardOf } from './talk.ts';

const CALLS_OF_EVERYTHING = [{ name: 'go', toolName: 'echo', toolArguments: { message: 'hi' } }];
const CALLS = [{ name: 'go', toolName: 'echo' }];

describe('a document about an MCP server', () => {
  let platform: TestPlatform;
  let client: Client;
  beforeAll(async () => {
    platform = await startTestPlatform({ env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  });
  afterAll(() => platform?.close());

  const WRONG: readonly (readonly [what: string, field: string, members: object])[] = [
    ['without an address', 'mcpServerUrl', { mcpServerUrl: undefined }],
    ['with a command for an address', 'mcpServerUrl', { mcpServerUrl: 'npx -y server' }],
    ['with a file for an address', 'mcpServerUrl', { mcpServerUrl: 'file:///etc/passwd' }],
    ['with a registered server without a name', 'mcpServerUrl', { mcpServerUrl: 'patchbay:servers/' }],
    ['with a transport nobody has', 'transport', { transport: 'stdio' }],
    ['with the transport that is given up', 'transport', { transport: 'sse' }],
    ['with more than the identity of the caller', 'apiKey', { apiKey: '${caller:token}, ${vault:key}' }],
    ['with the id of the caller', 'apiKey', { apiKey: 'Bearer ${caller:userId}' }],
    ['with a reference that is misspelled', 'apiKey', { apiKey: '{vault:key}' }],
    [
      'with a credential beside a registered server',
      'apiKey',
      { mcpServerUrl: 'patchbay:servers/x', apiKey: 'k' },
    ],
    ['with no time at all', 'timeoutMs', { timeoutMs: 0 }],
    ['with a list that is none', 'toolsWhitelist', { toolsWhitelist: 'echo' }],
    ['with a member nobody knows', 'mcpServerURL', { mcpServerURL: 'https://x.example' }],
    ['with two calls of one name', 'name', { mcpCalls: [...CALLS, ...CALLS] }],
    ['with a call of nothing', 'toolName', { mcpCalls: [{ name: 'go' }] }],
    [
      'with arguments that are no object',
      'toolArguments',
      { mcpCalls: [{ ...CALLS[0], toolArguments: [] }] },
    ],
    [
      'with a template that is none',
      'toolArguments',
      { mcpCalls: [{ ...CALLS[0], toolArguments: { a: [{ b: '{{ x' }] } }] },
    ],
    [
      'with a secret among the arguments',
      'toolArguments',
      { mcpCalls: [{ ...CALLS[0], toolArguments: { a: ['${vault:key}'] } }] },
    ],
    [
      'with a result nobody could name',
      'responseObjectName',
      { mcpCalls: [{ ...CALLS[0], name: 'go there' }] },
    ],
  ];

  it.each(WRONG)(
    'is refused %s, naming %s, however it is written (E-78, E-80, E-82, E-83, E-85, E-94)',
    async (_what, field, members) => {
      const document = { mcpServerUrl: 'https://mcp.example.com/mcp', mcpCalls: CALLS, ...members };
      const config = JSON.stringify(document);
      const created = client.call('create_resource', { resourceType: 'mcpcalls', config });
      await expect(created).rejects.toThrow(field);
      await expect(created).rejects.toMatchObject({ status: 400 });
      const { resourceId, version } = await client.call('create_resource', {
        resourceType: 'mcpcalls',
        config: JSON.stringify({ mcpServerUrl: 'https://mcp.example.com/mcp' }),
      });
      await expect(
        client.call('update_resource', { resourceType: 'mcpcalls', resourceId, version, config }),
      ).rejects.toThrow(field);
      const file = toolCallingAgent('wrong', { ...document, mcpCalls: document.mcpCalls as typeof CALLS });
      await expect(client.call('deploy_agent_file', { file })).rejects.toThrow(
        field === 'responseObjectName' ? /./ : field,
      );
    },
  );

  it('that was stored with the transport that is given up works, and the log says so once (EX-01)', async () => {
    await using server = await startEverything('sse');
    const file = toolCallingAgent('older', { mcpServerUrl: server.url, mcpCalls: CALLS_OF_EVERYTHING });
    await client.call('deploy_agent_file', { file });
    const body = { ...(file.mcpcalls as object), transport: 'SSE' };
    const { store } = platform.platform;
    await store.commit(async db => {
      await db
        .updateTable('document_versions')
        .set({ body: JSON.stringify(body) })
        .where('type', '=', 'mcpcalls')
        .where('id', '=', 'older')
        .execute();
    });
    const conversation = await conversationOf(client, 'older');
    for (const _ of [1, 2]) expect(await heardOf(client, conversation, 'go')).toEqual({ answer: 'Echo: hi' });
    const warnings = platform.logLines().filter(({ message }) => /transport sse/.test(String(message)));
    expect(warnings).toMatchObject([{ level: 'warn', agentId: 'older' }]);
    const exported = await client.call('export_agent', { agentId: 'older' });
    await expect(client.call('import_agent', { file: exported as never })).rejects.toThrow('transport');
  });

  it.each(['http', 'HTTPS', 'streamable-http', 'StreamableHTTP'])(
    'takes the words of EDDI for streamable HTTP: %s (E-76, EX-01)',
    async transport => {
      const config = JSON.stringify({ mcpServerUrl: 'https://mcp.example.com/mcp', transport });
      expect(await client.call('create_resource', { resourceType: 'mcpcalls', config })).toMatchObject({
        version: 1,
      });
    },
  );
});
