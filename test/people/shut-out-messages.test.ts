import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { toolCallingAgent } from '../mcpcalls/calling-agent.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform?.close());

it('what somebody has queued is not said for them any more once they are shut out (our own)', async () => {
  const owner = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
  const file = toolCallingAgent('desk', {
    mcpServerUrl: 'https://nobody.invalid/mcp',
    mcpCalls: [{ name: 'ask', toolName: 'nothing' }],
  });
  const rules = {
    expressionsAsActions: false,
    behaviorGroups: [
      {
        name: 'all',
        rules: [
          {
            ...{ name: 'wait', actions: ['PAUSE_CONVERSATION'] },
            conditions: [{ type: 'inputmatcher', configs: { expressions: 'ask' } }],
          },
          { name: 'speak', actions: ['speak'], conditions: [] },
        ],
      },
    ],
  };
  await owner.call('deploy_agent_file', { file: { ...file, rules } });
  await owner.call('share_agent', { agentId: 'desk', with: 'everyone' });
  const { userId, key } = await platform.addPerson(['patchbay-user']);
  const client = createClient({ baseUrl: platform.url, token: key, fetch });
  const { conversation_id } = await client.call('open_conversation', { agentId: 'desk' });
  const at = { agentId: 'desk', conversation_id };
  await client.call('post_message', { ...at, message: 'ask' });
  const conversationId = conversation_id;
  const stateOf = async () => (await owner.call('read_conversation', { conversationId })).conversationState;
  await expect.poll(stateOf).toBe('AWAITING_HUMAN');
  await client.call('post_message', { ...at, message: 'said too late' });

  await platform.platform.users.disable(userId);
  await owner.call('resume_conversation', { conversationId, verdict: 'APPROVED' });
  const deliveries = () =>
    platform.platform.store.db.selectFrom('deliveries').select(['state', 'ended_at']).execute();
  await expect
    .poll(async () => (await deliveries()).map(({ state }) => state).toSorted(), { timeout: 20_000 })
    .toEqual(['completed', 'rejected']);
  expect(JSON.stringify(await owner.call('read_conversation', { conversationId }))).not.toContain('too late');
}, 30_000);
