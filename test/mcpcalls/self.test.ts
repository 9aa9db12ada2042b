// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { randomBytes } from 'node:crypto';
import { type Client, createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { toolCallingAgent } from './calling-agent.ts';
import { conversationOf, conversationWith, heardOf } from './talk.ts';

describe.each(platforms)('an agent that calls its own platform at $kind', ({ start }) => {
  let platform: TestPlatform;
  let client: Client;
  beforeAll(async () => {
    platform = await start({
      env: {
        PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
        PATCHBAY_TURN_TIMEOUT_SECONDS: '20',
        PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex'),
      },
    });
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  });
  afterAll(() => platform?.close());

  it('may do what its key may, and no more (attack 28)', async () => {
    const { key } = await platform.addPerson(['patchbay-user']);
    await client.call('put_secret', { name: 'visitor-key', value: key });
    const conversation = await conversationWith(client, {
      mcpServerUrl: platform.operatorUrl,
      apiKey: '${vault:visitor-key}',
      mcpCalls: [
        { name: 'docs', toolName: 'list_docs' },
        { name: 'undeploy', toolName: 'undeploy_agent', toolArguments: { agentId: 'demo', version: 1 } },
        { name: 'deep', toolName: 'delete_agent', toolArguments: { agentId: 'demo', version: 1 } },
      ],
    });
    expect(await heardOf(client, conversation, 'docs')).toMatchObject({
      answer: { docs: expect.arrayContaining(['getting-started']) },
    });
    for (const name of ['undeploy', 'deep']) {
      const { answer, answerError } = await heardOf(client, conversation, name);
      expect(answer).toBeUndefined();
      expect(answerError).toMatchObject({ code: expect.stringMatching(/^(?:TOOL_ERROR|TOOL_NOT_FOUND)$/) });
    }
    expect((await client.call('list_agents', {})).agents.map(({ agentId }) => agentId)).toContain('demo');
  });

  it('and so itself without end comes to an end, and holds up nobody (attack 28)', async () => {
    const agentId = 'mirror';
    await client.call('put_secret', { name: 'own-key', value: platform.operatorKey });
    await client.call('deploy_agent_file', {
      file: toolCallingAgent(agentId, {
        mcpServerUrl: platform.agentUrl(agentId),
        apiKey: '${vault:own-key}',
        mcpCalls: [{ name: 'look', toolName: agentId, toolArguments: { message: '{{ input }}' } }],
      }),
    });
    const conversation = await conversationOf(client, agentId);
    const looking = heardOf(client, conversation, 'look');
    const other = await conversationOf(client, 'demo');
    expect(await client.call('talk_to_agent', { ...other, message: 'thanks' })).toMatchObject({
      conversationState: 'READY',
    });
    expect(Object.keys(await looking)).toEqual(['answer']);
    expect(await client.call('talk_to_agent', { ...other, message: 'thanks' })).toMatchObject({
      conversationState: 'READY',
    });
  });
});
