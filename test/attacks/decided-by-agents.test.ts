// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references such as ${vault:key} are the product's own syntax
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Client, createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { callTool } from '../doors/wire.ts';
import { callingAgent } from '../httpcalls/calling-agent.ts';
import { toolCallingAgent } from '../mcpcalls/calling-agent.ts';
import { conversationOf, heardOf } from '../mcpcalls/talk.ts';
import { ROOT } from '../repository.ts';

// attacks.md 29: the agent that asked has the tool that approves, with a key that may.

const REFUSED = 'An agent made this call';
const WAITS_AT_PAY = {
  expressionsAsActions: true,
  behaviorGroups: [
    {
      name: 'ask',
      rules: [
        {
          name: 'ask',
          actions: ['PAUSE_CONVERSATION'],
          conditions: [{ type: 'inputmatcher', configs: { expressions: 'pay' } }],
        },
        { name: 'speak', actions: ['speak'], conditions: [] },
      ],
    },
  ],
};

describe.each(platforms)('What waits for a person at $kind', ({ start }) => {
  let platform: TestPlatform;
  let client: Client;
  beforeAll(async () => {
    platform = await start({
      env: {
        PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1',
        PATCHBAY_VAULT_KEY: randomBytes(32).toString('hex'),
      },
    });
    client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    await client.call('put_secret', { name: 'own-key', value: platform.operatorKey });
    await platform.platform.registry.add({
      ...{ instance: 'default', name: 'bridge', replace: true, by: 'test' },
      options: {
        command: process.execPath,
        args: [join(ROOT, 'packages/cli/bin/patchbay.mjs'), 'stdio'],
        env: { PATCHBAY_URL: platform.url, PATCHBAY_KEY: '${vault:own-key}' },
        gated: false,
      },
    });
  });
  afterAll(() => platform?.close());

  /** The tools of the operator door, through some server. */
  const throughDoor =
    (server: object) =>
    (agent: string, target: string): Record<string, unknown> =>
      toolCallingAgent(agent, {
        ...{ mcpServerUrl: '', ...server },
        mcpCalls: [
          {
            name: 'approve',
            toolName: 'resume_conversation',
            toolArguments: { conversationId: target, verdict: 'APPROVED' },
          },
          { name: 'cancel', toolName: 'cancel_conversation', toolArguments: { conversationId: target } },
          { name: 'look', toolName: 'get_approval_status', toolArguments: { conversationId: target } },
        ],
      });
  const overRest = (agent: string, target: string): Record<string, unknown> => {
    const headers = { authorization: 'Bearer ${vault:own-key}' };
    const at = (action: string) => `/api/v1/conversations/${target}/${action}`;
    const json = { contentType: 'application/json', method: 'POST', headers };
    return callingAgent(agent, platform.url, [
      { name: 'approve', request: { ...json, path: at('resume'), body: '{"verdict":"APPROVED"}' } },
      { name: 'cancel', request: { ...json, path: at('cancel'), body: '{}' } },
      { name: 'look', request: { path: at('approval'), headers } },
    ]);
  };
  const ways: Readonly<Record<string, (agent: string, target: string) => Record<string, unknown>>> = {
    'the operator door': (agent, target) =>
      throughDoor({ mcpServerUrl: platform.operatorUrl, apiKey: '${vault:own-key}' })(agent, target),
    'the bridge for stdio': throughDoor({ mcpServerUrl: 'patchbay:servers/bridge' }),
    REST: overRest,
  };

  async function waiting(file: Record<string, unknown>): Promise<string> {
    const words = [{ word: 'pay', expressions: 'pay' }];
    await client.call('deploy_agent_file', {
      file: { ...file, dictionary: { words }, rules: WAITS_AT_PAY },
    });
    const conversation = await conversationOf(client, file.agent as string);
    const { status } = await client.call('talk_to_agent', { ...conversation, message: 'pay' });
    expect(status).toBe('PAUSED_FOR_APPROVAL');
    return conversation.conversationId;
  }
  const stateOf = async (conversationId: string) =>
    (await client.call('get_approval_status', { conversationId })).state;

  describe.each(Object.keys(ways))('is decided by no agent through %s', way => {
    const agentOf = ways[way]!;
    const agent = `decider-${Object.keys(ways).indexOf(way)}`;

    it.each(['itself', 'another agent'])(
      'that asked for %s, and by the same key in a hand (attack 29)',
      async who => {
        const asks = who === 'itself' ? agent : 'asker';
        const target = await waiting(agentOf(asks, 'conv_aaaaaaaaaaaaaaaaaaaaaaaaaa'));
        await client.call('deploy_agent_file', { file: agentOf(agent, target) });
        const conversation = await conversationOf(client, agent);
        for (const word of ['approve', 'cancel'])
          expect(JSON.stringify(await heardOf(client, conversation, word))).toContain(REFUSED);
        expect(JSON.stringify(await heardOf(client, conversation, 'look'))).toContain('AWAITING_HUMAN');
        expect(await stateOf(target)).toBe('AWAITING_HUMAN');
        const { body } = await callTool(
          platform.operatorUrl,
          'resume_conversation',
          { conversationId: target, verdict: 'APPROVED' },
          { key: platform.operatorKey },
        );
        expect(body.result.structuredContent).toMatchObject({ status: 'RESUMED' });
        await expect.poll(() => stateOf(target)).toBe('READY');
      },
    );
  });

  it('and who tried is in the audit trail, and that it was an agent (attack 29)', async () => {
    const { keys, owner } = platform.platform;
    // Only so many refusals of one key are written down in a minute.
    const { token } = await keys.createUserKey(owner.id, { name: 'another', scopes: ['operator'] });
    await client.call('put_secret', { name: 'own-key', value: token });
    const target = await waiting(overRest('asker', 'conv_aaaaaaaaaaaaaaaaaaaaaaaaaa'));
    await client.call('deploy_agent_file', { file: overRest('audited', target) });
    await heardOf(client, await conversationOf(client, 'audited'), 'approve');
    const { db } = platform.platform.store;
    const events = await db.selectFrom('audit_events').selectAll().where('outcome', '=', 'refused').execute();
    expect(
      events.map(({ operation, subject }) => ({ operation, subject: JSON.parse(subject) })),
    ).toContainEqual({
      operation: 'resume_conversation',
      subject: expect.objectContaining({ conversationId: target, verdict: 'APPROVED', byAgent: true }),
    });
  });
});
