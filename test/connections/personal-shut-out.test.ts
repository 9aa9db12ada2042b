import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toolCallingAgent } from '../mcpcalls/calling-agent.ts';
import { guard, isToolCall, PERSONAL_ENV } from './personal-rig.ts';
import { faultServers } from './servers/fault-servers.ts';

const { serverWith } = faultServers();

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ env: PERSONAL_ENV });
});
afterAll(() => platform?.close());

it('what somebody was shut out of while it waited for an approval is not done with their credential when it is approved (our own)', async () => {
  const server = await serverWith('whoami');
  const { knows, shown } = guard(server);
  const owner = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  await owner.call('add_server', {
    name: 'desk',
    options: { url: server.url, credentialName: 'desk', gated: false },
  });
  const file = toolCallingAgent('desk', {
    mcpServerUrl: 'patchbay:servers/desk',
    mcpCalls: [{ name: 'ask', toolName: 'whoami' }],
  });
  const rules = {
    expressionsAsActions: true,
    behaviorGroups: [
      {
        name: 'ask',
        rules: [
          {
            ...{ name: 'ask', actions: ['speak', 'PAUSE_CONVERSATION'] },
            conditions: [{ type: 'inputmatcher', configs: { expressions: 'ask' } }],
          },
        ],
      },
    ],
  };
  await owner.call('deploy_agent_file', { file: { ...file, rules } });
  await owner.call('share_agent', { agentId: 'desk', with: 'everyone' });

  /** Somebody new asks; the turn waits, and is approved after `meanwhile`. Answers what the conversation holds then. */
  async function approvedAfter(meanwhile: (userId: string) => Promise<unknown>): Promise<string> {
    const { userId, key } = await platform.addPerson(['patchbay-user']);
    const client = createClient({ baseUrl: platform.url, token: key, fetch });
    await client.call('put_credential', { name: 'desk', token: knows(userId) });
    const { conversationId } = await client.call('create_conversation', { agentId: 'desk' });
    const waiting = await client.call('talk_to_agent', {
      ...{ agentId: 'desk', conversationId: conversationId!, message: 'ask' },
    });
    expect(waiting.conversationState).toBe('AWAITING_HUMAN');
    await meanwhile(userId);
    await owner.call('resume_conversation', { conversationId: conversationId!, verdict: 'APPROVED' });
    const read = async () => owner.call('read_conversation', { conversationId: conversationId! });
    await expect.poll(async () => (await read()).conversationState).toBe('READY');
    return JSON.stringify(await read());
  }

  expect(await approvedAfter(async () => undefined)).not.toContain('AUTHENTICATION_FAILED');
  expect(shown(isToolCall)).toHaveLength(1);
  const said = await approvedAfter(userId => platform.platform.users.disable(userId));
  expect(said).toContain('AUTHENTICATION_FAILED');
  expect(said).toContain('has been shut out');
  expect(shown(isToolCall)).toHaveLength(1);
});
