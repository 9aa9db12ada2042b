import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { type Surface, surfaces } from './surfaces.ts';

describe.each(platforms)('a chat at $kind', ({ start }) => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await start();
  });
  afterAll(() => platform?.close());

  describe.each(surfaces)('through $surface', ({ open }) => {
    let surface: Surface;
    beforeAll(async () => {
      surface = await open(platform, platform.operatorKey);
    });
    afterAll(() => surface?.close());

    it('takes its steps one by one: list, start, talk, read', async () => {
      const { agents } = await surface.call('list_agents');
      const [{ agentId }] = agents;
      const { conversationId, conversationUri } = await surface.call('create_conversation', { agentId });
      expect(conversationUri).toBe(`patchbay://conversation/${conversationId}`);
      const message = 'How do I connect a client?';
      const answer = await surface.call('talk_to_agent', { agentId, conversationId, message });
      expect(answer.agentResponse).toMatch(/connect/i);
      const { log } = await surface.call('read_conversation_log', { conversationId });
      expect(log).toContain(`User: ${message}`);
      expect(log).toContain(answer.response.conversationOutputs[0].output[0].text);
      const { conversations } = await surface.call('list_conversations', { agentId });
      expect(conversations.map((listed: { conversationId: string }) => listed.conversationId)).toContain(
        conversationId,
      );
    });

    it('leaves what one needs to look into it: the log, and an entry for each task', async () => {
      const { conversationId } = await surface.call('chat_with_agent', { agentId: 'demo', message: 'hello' });
      const { entries, count } = await surface.call('read_audit_trail', { conversationId });
      expect(entries).toHaveLength(count);
      for (const entry of entries) {
        expect(entry).toMatchObject({ conversationId, agentId: 'demo', durationMs: expect.any(Number) });
      }
      expect(await surface.call('read_agent_logs', { conversationId })).toMatchObject({ conversationId });
    });
  });
});
