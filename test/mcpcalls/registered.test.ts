import { type Client, createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { npmServer } from '../connections/servers/npm-server.ts';
import { toolCallingAgent } from './calling-agent.ts';
import { conversationWith, heardOf } from './talk.ts';

const REF = { scope: 'default', name: 'everything' };

describe('rules reach registered servers', () => {
  let platform: TestPlatform;
  let client: Client;
  beforeAll(async () => {
    platform = await startTestPlatform();
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    await platform.platform.registry.add({
      instance: 'default',
      name: 'everything',
      options: { command: process.execPath, args: [npmServer('everything')], gated: false },
      replace: false,
      by: 'test',
    });
  });
  afterAll(() => platform?.close());

  async function say(agentId: string, message: string): Promise<Record<string, unknown>> {
    const { conversationId } = await client.call('create_conversation', { agentId });
    const answer = await client.call('talk_to_agent', { agentId, conversationId: conversationId!, message });
    return JSON.parse(answer.agentResponse!) as Record<string, unknown>;
  }

  it('that are programs of this machine, by their names', async () => {
    await client.call('deploy_agent_file', {
      file: toolCallingAgent('caller', {
        mcpServerUrl: 'patchbay:servers/everything',
        mcpCalls: [{ name: 'echo', toolName: 'echo', toolArguments: { message: '{{ input }}!' } }],
      }),
    });
    expect(await say('caller', 'echo')).toEqual({ answer: 'Echo: echo!' });
  });

  it.each([
    ['nowhere', 'there is no server default/nowhere; it is added with `npx patchbay servers add nowhere`'],
    [
      'sales/crm',
      'there is no server sales/crm; it is added with `npx patchbay servers add crm --instance sales`',
    ],
  ])('or hear that there is none, which ends no turn: %s (E-102)', async (named, message) => {
    const agentId = `lost-${named.replace('/', '-')}`;
    await client.call('deploy_agent_file', {
      file: toolCallingAgent(agentId, {
        mcpServerUrl: `patchbay:servers/${named}`,
        mcpCalls: [{ name: 'go', toolName: 'echo', continueOnError: false }],
      }),
    });
    expect(await say(agentId, 'go')).toEqual({
      answerError: { code: 'SERVER_UNAVAILABLE', sent: false, message },
    });
    const warning = expect.stringContaining('which is not registered');
    expect(platform.logLines()).toContainEqual(
      expect.objectContaining({ level: 'warn', agentId, message: warning }),
    );
  });

  it('as far as the document lets them', async () => {
    const narrow = await conversationWith(client, {
      mcpServerUrl: 'patchbay:servers/default/everything',
      toolsWhitelist: ['echo', 'get-sum'],
      toolsBlacklist: ['echo'],
      mcpCalls: [
        { name: 'echo', toolName: 'echo', toolArguments: { message: 'x' } },
        { name: 'sum', toolName: 'get-sum', toolArguments: { a: 1, b: 2 } },
      ],
    });
    expect(await heardOf(client, narrow, 'echo')).toMatchObject({ answerError: { code: 'TOOL_NOT_FOUND' } });
    expect(await heardOf(client, narrow, 'sum')).toEqual({ answer: 'The sum of 1 and 2 is 3.' });
  });

  it('and people see how they are, and what they offer', async () => {
    const { servers } = platform.platform;
    await servers.settle(REF, new AbortController().signal);
    expect(servers.health(REF)).toMatchObject({ state: 'available', problem: undefined });
    const echo = servers.tools(REF).find(({ name }) => name === 'echo');
    expect(echo).toMatchObject({ offeredAs: 'everything__echo', standing: 'offered', changes: [] });
    expect(
      await servers.call(REF, {
        tool: 'echo',
        arguments: { message: 'by hand' },
        by: 'test',
        signal: new AbortController().signal,
      }),
    ).toMatchObject({ kind: 'answered', text: 'Echo: by hand' });
  });
});
