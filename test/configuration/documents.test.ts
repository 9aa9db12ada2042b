import { type Client, createClient } from '@patchbay/contract/client';
import type { DocumentType } from '@patchbay/contract/ids';
import { DOCUMENT_TYPES } from '@patchbay/contract/ids';
import { documentTypeOf, RESOURCE_TYPES } from '@patchbay/contract/resource-types';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { callTool, toolError } from '../doors/wire.ts';
import { alwaysSays, says } from '../flows/texts.ts';

const HEX = '65F0C0FFEE0123456789ABCD';
const UUID = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';

/** The smallest right document of each type. */
const BODIES: Readonly<Record<DocumentType, Record<string, unknown>>> = {
  agent: { workflows: ['patchbay://workflow/w1?version=1'] },
  workflow: { workflowSteps: [] },
  rules: alwaysSays,
  output: says('x'),
  dictionary: { words: [] },
  property: { setOnActions: [] },
  httpcalls: { targetServerUrl: 'https://example.com', httpCalls: [] },
  mcpcalls: { mcpServerUrl: 'https://example.com/mcp' },
  llm: { tasks: [] },
};

describe.each(platforms)('documents at $kind', ({ start }) => {
  let platform: TestPlatform;
  let client: Client;
  beforeAll(async () => {
    platform = await start();
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  });
  afterAll(() => platform?.close());

  const tool = (name: string, args: Record<string, unknown>) =>
    callTool(platform.operatorUrl, name, args, { key: platform.operatorKey });

  it.each(DOCUMENT_TYPES)(
    'of the type %s are made, changed, read by number, hidden and removed',
    async type => {
      const body = BODIES[type];
      const made = await client.call('create_document', {
        type,
        name: `A ${type}`,
        description: 'One.',
        body,
      });
      expect(made).toMatchObject({ type, version: 1, name: `A ${type}`, description: 'One.' });
      expect(made.id).toMatch(new RegExp(`^${type}_[a-z2-7]{20}$`));
      expect(made.uri).toBe(`patchbay://${type}/${made.id}?version=1`);
      const name = { type, id: made.id };
      const changed = await client.call('update_document', { ...name, version: 1, body });
      expect(changed).toMatchObject({ version: 2, previousVersion: 1, name: `A ${type}` });
      await expect(client.call('update_document', { ...name, version: 1, body })).rejects.toMatchObject({
        status: 409,
        message: expect.stringContaining('is at version 2, not 1'),
        details: { currentVersion: 2, expectedVersion: 1 },
      });
      expect(await client.call('update_document', { ...name, version: 0, body })).toMatchObject({
        version: 3,
      });
      expect(await client.call('read_document', name)).toMatchObject({ version: 3 });
      expect(await client.call('read_document', { ...name, version: 1 })).toMatchObject({ version: 1 });
      await expect(client.call('read_document', { ...name, version: 4 })).rejects.toThrow('the latest is 3');
      await expect(client.call('update_document', { ...name, version: -1, body })).rejects.toThrow('version');

      const { documents } = await client.call('list_documents', { type, filter: `A ${type}` });
      expect(documents.map(({ resource }) => resource)).toContain(`patchbay://${type}/${made.id}?version=3`);
      expect(await client.call('delete_document', { ...name, version: 3 })).toEqual({
        ...name,
        version: 3,
        permanent: false,
      });
      await expect(client.call('read_document', name)).rejects.toMatchObject({ status: 404 });
      expect(await client.call('read_document', { ...name, version: 2 })).toMatchObject({ version: 2 });
      await expect(client.call('create_document', { ...name, body })).rejects.toMatchObject({ status: 409 });
      await client.call('delete_document', { ...name, version: 3, permanent: true });
      await expect(client.call('read_document', { ...name, version: 2 })).rejects.toMatchObject({
        status: 404,
      });
      expect(await client.call('create_document', { ...name, body })).toMatchObject({ version: 1 });
    },
  );

  it.each(RESOURCE_TYPES)('that tools call %s are made by tools', async resourceType => {
    const body = BODIES[documentTypeOf(resourceType)!];
    const made = await tool('create_resource', { resourceType, config: JSON.stringify(body) });
    const { resourceId } = made.body.result.structuredContent;
    const read = await tool('read_resource', { resourceType: ` ${resourceType.toUpperCase()} `, resourceId });
    expect(read.body.result.structuredContent).toMatchObject({ version: 1 });
  });

  it.each(['llm', 'rag', 'agent', 'rules', ''])(
    'of the resource type %j are unknown, and the error lists what there is (E-23)',
    async resourceType => {
      for (const [name, args] of [
        ['create_resource', { config: '{}' }],
        ['read_resource', { resourceId: 'x1' }],
        ['update_resource', { resourceId: 'x1', version: 1, config: '{}' }],
        ['delete_resource', { resourceId: 'x1', version: 1 }],
      ] as const) {
        expect(toolError(await tool(name, { resourceType, ...args })), name).toEqual({
          error: `resourceType: ${JSON.stringify(resourceType)} is unknown; supported: ${RESOURCE_TYPES.join(', ')}.`,
          errorCode: 'BAD_REQUEST',
        });
      }
    },
  );

  it.each([HEX, UUID, 'my-own_id'])('take the id %s and its references in any form', async given => {
    const id = given.toLowerCase();
    await client.call('create_document', { type: 'rules', id, body: alwaysSays });
    await client.call('create_document', { type: 'dictionary', id, body: { words: [] } });
    const workflow = await client.call('create_document', {
      type: 'workflow',
      id,
      body: {
        workflowExtensions: [
          {
            type: 'eddi://ai.labs.parser',
            extensions: {
              dictionaries: [
                {
                  type: 'eddi://ai.labs.parser.dictionaries.regular',
                  config: {
                    uri: `eddi://ai.labs.dictionary/dictionarystore/dictionaries/${given}?version=1`,
                  },
                },
              ],
            },
          },
          {
            type: 'eddi://ai.labs.behavior',
            config: { uri: `eddi://ai.labs.behavior/behaviorstore/behaviorsets/${given}?version=1` },
          },
        ],
      },
    });
    const { body } = await client.call('read_document', { type: 'workflow', id });
    expect(body).toEqual({
      workflowSteps: [
        {
          type: 'parser',
          extensions: {
            dictionaries: [{ type: 'regular', config: { uri: `patchbay://dictionary/${id}?version=1` } }],
          },
        },
        { type: 'rules', config: { uri: `patchbay://rules/${id}?version=1` } },
      ],
    });
    const { agentId } = await client.call('create_agent', {
      name: id,
      workflowUris: ` eddi://ai.labs.package/packagestore/packages/${given}?version=${workflow.version} ,`,
    });
    expect((await client.call('get_agent', { agentId })).configuration).toEqual({
      workflows: [`patchbay://workflow/${id}?version=1`],
    });
    const { workflows } = await client.call('list_agent_resources', { agentId });
    expect(workflows[0]!.extensions.map(({ resourceUri }) => resourceUri)).toEqual([
      `patchbay://dictionary/${id}?version=1`,
      `patchbay://rules/${id}?version=1`,
    ]);
    expect(await client.call('deploy_agent', { agentId, version: 1 })).toMatchObject({ deployed: true });
  });

  it.each<[DocumentType, Record<string, unknown>, string]>([
    [
      'rules',
      { behaviorGroups: [{ name: 'g', rules: [{ name: 'r', action: ['x'] }] }] },
      'rules document: field "action" at $.behaviorGroups[0].rules[0].action is unknown (known fields there: name, actions',
    ],
    ['output', says('{{ unfinished'), 'output document'],
    [
      'workflow',
      { workflowSteps: [{ type: 'eddi://ai.labs.nothing' }] },
      'workflow document, $.workflowSteps[0].type: unknown step type "nothing"; known types: parser, rules',
    ],
    [
      'workflow',
      { workflowSteps: [{ type: 'rules', config: { url: 'x' } }] },
      '$.workflowSteps[0]: rules step: field',
    ],
    ['agent', { workflows: ['http://x'] }, 'must be patchbay://workflow/<id>?version=<n>'],
    [
      'agent',
      { workflows: [], hitlConfig: { approvalTimeout: '30m' } },
      'agent document: field "approvalTimeout" at $.hitlConfig.approvalTimeout is not valid',
    ],
  ])('of the type %s are refused with the place: %j', async (type, body, message) => {
    await expect(client.call('create_document', { type, body })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(message),
    });
  });

  it('refuse an id that could not be addressed', async () => {
    for (const id of ['x', 'UPPER', 'a/b', 'mcp', '-a', 'a'.repeat(65)]) {
      await expect(client.call('create_document', { type: 'rules', id, body: alwaysSays })).rejects.toThrow(
        'id: the whole value is not valid',
      );
    }
  });

  it('of an agent keep the settings of their pauses, whatever tools do (E-33)', async () => {
    const hitlConfig = { approvalTimeout: 'PT30M', timeoutPolicy: 'AUTO_REJECT' };
    const output = await client.call('create_document', { type: 'output', body: says('a') });
    const workflow = await client.call('create_document', {
      type: 'workflow',
      body: { workflowSteps: [{ type: 'output', config: { uri: output.uri } }] },
    });
    const { id: agentId } = await client.call('create_document', {
      type: 'agent',
      body: { workflows: [workflow.uri], hitlConfig },
    });
    const { uri: newUri } = await client.call('update_document', {
      type: 'output',
      id: output.id,
      version: 1,
      body: says('b'),
    });
    await tool('update_agent', { agentId, version: 1, name: 'Other' });
    await tool('apply_agent_changes', {
      agentId,
      agentVersion: 1,
      resourceMappings: JSON.stringify([{ oldUri: output.uri, newUri }]),
    });
    expect(await client.call('get_agent', { agentId })).toMatchObject({
      version: 2,
      configuration: { hitlConfig },
    });
    const { body } = await tool('create_agent', { name: 'x', hitlConfig: {} });
    expect(body.result.isError).toBe(true);
  });

  it('of one version are changed by one of several who try at once', async () => {
    const { id } = await client.call('create_document', { type: 'rules', body: alwaysSays });
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, () =>
        client.call('update_document', { type: 'rules', id, version: 1, body: alwaysSays }),
      ),
    );
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of tries) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ status: 409 });
    }
    expect(await client.call('read_document', { type: 'rules', id })).toMatchObject({ version: 2 });
  });
});
