// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startModernServer } from '../connections/servers/modern-server.ts';
import { npmServer, startEverything } from '../connections/servers/npm-server.ts';
import { type Conversation, conversationWith, heardOf } from './talk.ts';
import { startToolServer } from './tool-server.ts';

describe('rules drive servers that people use', () => {
  let platform: TestPlatform;
  let client: Client;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-files-'));
    await writeFile(join(folder, 'menu.txt'), 'Tea, coffee.');
    platform = await startTestPlatform({ env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  });
  afterAll(async () => {
    await platform?.close();
    await rm(folder, { recursive: true });
  });

  async function registered(
    name: Parameters<typeof npmServer>[0],
    args: readonly string[] = [],
    options: object = {},
  ) {
    await platform.platform.registry.add({
      instance: 'default',
      name,
      options: { command: process.execPath, args: [npmServer(name), ...args], gated: false, ...options },
      replace: false,
      by: 'test',
    });
    return `patchbay:servers/${name}`;
  }

  const EVERYTHING = [
    { name: 'echo', toolName: 'echo', toolArguments: { message: '{{ input }}' } },
    { name: 'sum', toolName: 'get-sum', toolArguments: { a: 1, b: '{{ 2 }}' } },
    { name: 'env', toolName: 'get-env' },
    { name: 'picture', toolName: 'get-tiny-image' },
    { name: 'weather', toolName: 'get-structured-content', toolArguments: { location: 'Chicago' } },
  ];

  async function expectEverything(conversation: Conversation) {
    expect(await heardOf(client, conversation, 'echo')).toEqual({ answer: 'Echo: echo' });
    expect(await heardOf(client, conversation, 'sum')).toEqual({ answer: 'The sum of 1 and 2 is 3.' });
    expect(await heardOf(client, conversation, 'picture')).toEqual({
      answer: expect.stringContaining('\n[image image/png, 4 kB]\n'),
    });
    expect(await heardOf(client, conversation, 'weather')).toEqual({
      answer: expect.objectContaining({ temperature: expect.any(Number) }),
    });
    expect(await heardOf(client, conversation, 'env')).toMatchObject({
      answerError: { code: 'TOOL_NOT_FOUND' },
    });
  }

  it.each(['streamableHttp', 'sse'] as const)('server-everything over %s', async transport => {
    await using server = await startEverything(transport);
    await expectEverything(
      await conversationWith(client, {
        ...{ mcpServerUrl: server.url, toolsBlacklist: ['get-env'], mcpCalls: EVERYTHING },
      }),
    );
  });

  it('server-everything, a program', async () => {
    const mcpServerUrl = await registered('everything', [], { except: ['get-env'] });
    await expectEverything(await conversationWith(client, { mcpServerUrl, mcpCalls: EVERYTHING }));
  });

  it('as far as the lists of the document let them, the second of which takes away from the first (E-83, E-84, E-87)', async () => {
    await using server = await startToolServer('legacy');
    const names = ['echo', 'tells', 'injected'];
    const reaches = async (lists: object) => {
      const conversation = await conversationWith(client, {
        ...{ mcpServerUrl: server.url, ...lists },
        mcpCalls: names.map(name => ({ name, toolName: name })),
      });
      const reached: string[] = [];
      for (const name of names) {
        const before = server.calls.length;
        const { answerError } = await heardOf(client, conversation, name);
        if (!answerError) reached.push(name);
        else expect(answerError).toMatchObject({ code: 'TOOL_NOT_FOUND', sent: false });
        expect(server.calls.length - before).toBe(answerError ? 0 : 1);
      }
      return reached;
    };
    expect(await reaches({})).toEqual(names);
    expect(await reaches({ toolsWhitelist: [] })).toEqual(names);
    expect(await reaches({ toolsWhitelist: ['echo', 'tells'] })).toEqual(['echo', 'tells']);
    expect(await reaches({ toolsBlacklist: ['tells'] })).toEqual(['echo', 'injected']);
    expect(await reaches({ toolsWhitelist: ['echo', 'tells'], toolsBlacklist: ['tells'] })).toEqual(['echo']);
  });

  it('a server of the stateless era', async () => {
    await using server = await startModernServer();
    const conversation = await conversationWith(client, {
      mcpServerUrl: server.url,
      mcpCalls: [{ name: 'count', toolName: 'count', toolArguments: { to: '{{ 3 }}' } }],
    });
    expect(await heardOf(client, conversation, 'count')).toEqual({ answer: 'counted to 3' });
  });

  it('server-filesystem, a program', async () => {
    const conversation = await conversationWith(client, {
      mcpServerUrl: await registered('filesystem', [folder]),
      mcpCalls: [
        { name: 'read', toolName: 'read_text_file', toolArguments: { path: join(folder, 'menu.txt') } },
        { name: 'steal', toolName: 'read_text_file', toolArguments: { path: '/etc/hostname' } },
      ],
    });
    expect(await heardOf(client, conversation, 'read')).toEqual({ answer: { content: 'Tea, coffee.' } });
    expect(await heardOf(client, conversation, 'steal')).toMatchObject({
      answerError: { code: 'TOOL_ERROR', message: expect.stringContaining('denied') },
    });
  });

  it('server-memory, a program that keeps what it is told', async () => {
    const conversation = await conversationWith(client, {
      mcpServerUrl: await registered('memory', [], {
        env: { MEMORY_FILE_PATH: join(folder, 'memory.json') },
      }),
      mcpCalls: [
        {
          name: 'note',
          toolName: 'create_entities',
          toolArguments: {
            entities: [
              { name: '{{ userInfo.userId }}', entityType: 'person', observations: ['said {{ input }}'] },
            ],
          },
        },
        { name: 'recall', toolName: 'search_nodes', toolArguments: { query: 'said' } },
      ],
    });
    await heardOf(client, conversation, 'note this');
    expect(await heardOf(client, conversation, 'recall')).toMatchObject({
      answer: { entities: [{ entityType: 'person', observations: ['said note this'] }] },
    });
  });

  it('server-sequential-thinking, a program that wants numbers', async () => {
    const conversation = await conversationWith(client, {
      mcpServerUrl: await registered('sequential-thinking'),
      mcpCalls: [
        {
          name: 'think',
          toolName: 'sequentialthinking',
          toolArguments: {
            thought: '{{ input }}',
            nextThoughtNeeded: false,
            thoughtNumber: '{{ "1" }}',
            totalThoughts: 1,
          },
        },
      ],
    });
    expect(await heardOf(client, conversation, 'think hard')).toMatchObject({ answer: { thoughtNumber: 1 } });
  });

  it('with the key of the document, from the vault, and a connection for each key (E-81, E-92, E-103, E-105)', async () => {
    await using server = await startToolServer('legacy');
    await client.call('put_secret', { name: 'tools-key', value: 'open-sesame' });
    const talk = async (apiKey?: string) =>
      conversationWith(client, {
        mcpServerUrl: server.url,
        ...(apiKey && { apiKey }),
        mcpCalls: [{ name: 'go', toolName: 'echo' }],
      });
    const seen = async (conversation: Awaited<ReturnType<typeof talk>>) => {
      await heardOf(client, conversation, 'go');
      return server.calls.at(-1)!.headers.authorization;
    };
    const first = await talk('${vault:tools-key}');
    expect(await seen(first)).toBe('Bearer open-sesame');
    expect(await seen(await talk(' Basic   dXNlcg== '))).toBe('Basic   dXNlcg==');
    expect(await seen(await talk())).toBeUndefined();
    expect(await seen(first)).toBe('Bearer open-sesame');
    expect(await seen(await talk('${vault:tools-key}'))).toBe('Bearer open-sesame');
    expect(server.handshakes).toBe(3);
  });
});
