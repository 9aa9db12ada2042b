import { createClient } from '@patchbay/contract/client';
import { startTestPlatform } from '@patchbay/testing/platform';
import { describe, expect, it } from 'vitest';
import { conversationWith, heardOf } from './talk.ts';
import { startToolServer } from './tool-server.ts';

const PRIVATE = { PATCHBAY_EGRESS_PRIVATE_HOSTS: '127.0.0.1' };

describe.each(['legacy', 'modern'] as const)('calls of a server of the %s era', era => {
  it('end with their turn, whose time is up, and what they cost is spent', async () => {
    await using server = await startToolServer(era);
    const platform = await startTestPlatform({ env: { ...PRIVATE, PATCHBAY_TURN_TIMEOUT_SECONDS: '1' } });
    try {
      const client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
      const priced = { url: server.url, gated: false, cost: { usd: 1 } };
      platform.platform.registry.configure({
        default: { check: undefined, source: 'data', servers: { priced } },
      });
      const conversation = await conversationWith(
        client,
        {
          mcpServerUrl: 'patchbay:servers/priced',
          mcpCalls: [
            { name: 'wait', toolName: 'silent' },
            { name: 'echo', toolName: 'echo' },
          ],
        },
        { budget: { usdPerConversation: 1 } },
      );
      await expect(heardOf(client, conversation, 'wait')).rejects.toThrow(
        'It is unknown whether this was done: the tool "silent" for the call "wait".',
      );
      await server.cancelled;
      expect(await client.call('read_conversation', conversation)).toMatchObject({
        conversationState: 'ERROR',
      });
      const { entries } = await client.call('read_audit_trail', {
        conversationId: conversation.conversationId,
      });
      expect(entries.flatMap(({ output }) => output['mcpCalls:wait:call'] ?? [])).toMatchObject([
        { outcome: 'INTERRUPTED', costUsd: 1 },
      ]);
      expect(await heardOf(client, conversation, 'echo')).toMatchObject({
        answerError: { code: 'BUDGET_EXCEEDED' },
      });
    } finally {
      await platform.close();
    }
  });

  it('go over connections that are closed when the platform stops (E-106)', async () => {
    await using server = await startToolServer(era);
    const platform = await startTestPlatform({ env: PRIVATE });
    const client = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    const conversation = await conversationWith(client, {
      mcpServerUrl: server.url,
      mcpCalls: [{ name: 'echo', toolName: 'echo' }],
    });
    await heardOf(client, conversation, 'echo');
    expect(await server.connections()).toBeGreaterThan(0);
    await platform.close();
    await expect.poll(server.connections).toBe(0);
  });
});
