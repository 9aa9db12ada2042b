import { type Client, createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEverything } from '../connections/servers/npm-server.ts';
import { platforms } from '../doors/platforms.ts';
import { toolCallingAgent } from './calling-agent.ts';

describe.each(platforms)('rules call the tools of MCP servers at $kind', ({ start }) => {
  let platform: TestPlatform;
  let client: Client;
  let server: Awaited<ReturnType<typeof startEverything>>;
  beforeAll(async () => {
    server = await startEverything('streamableHttp');
    platform = await start({ env: { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' } });
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  });
  afterAll(async () => {
    await platform?.close();
    await server?.[Symbol.asyncDispose]();
  });

  async function say(agentId: string, message: string): Promise<Record<string, unknown>> {
    const { conversationId } = await client.call('create_conversation', { agentId });
    const answer = await client.call('talk_to_agent', { agentId, conversationId: conversationId!, message });
    return JSON.parse(answer.agentResponse!) as Record<string, unknown>;
  }

  it('with templates in the arguments, and what it answers in the memory (E-98)', async () => {
    await client.call('deploy_agent_file', {
      file: toolCallingAgent('caller', {
        mcpServerUrl: server.url,
        mcpCalls: [
          { name: 'echo', toolName: 'echo', toolArguments: { message: '{{ input }}!' } },
          { name: 'sum', toolName: 'get-sum', toolArguments: { a: 1, b: 2 } },
          { name: 'gone', toolName: 'no-such-tool' },
        ],
      }),
    });
    expect(await say('caller', 'echo')).toEqual({ answer: 'Echo: echo!' });
    expect(await say('caller', 'sum')).toMatchObject({ answer: expect.stringContaining('3') });
    expect(await say('caller', 'gone')).toMatchObject({
      answerError: { code: 'TOOL_NOT_FOUND', sent: false },
    });
  });
});
