import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { type Surface, surfaces } from './surfaces.ts';

describe.each(platforms)('an intent at $kind', ({ start }) => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await start();
  });
  afterAll(() => platform?.close());

  describe.each(surfaces)('through $surface', ({ open, surface: way }) => {
    let surface: Surface;
    let call: Surface['call'];
    beforeAll(async () => {
      surface = await open(platform, platform.operatorKey);
      call = surface.call;
    });
    afterAll(() => surface?.close());

    const named = (name: string) => `${name} (${way})`;
    const trigger = (intent: string, agentIds = ['demo'], more: Record<string, unknown> = {}) =>
      call('create_agent_trigger', {
        config: JSON.stringify({
          intent,
          agentDeployments: agentIds.map(agentId => ({ agentId, ...more })),
        }),
      });
    const chat = (intent: string, userId: string, message = 'hello') =>
      call('chat_managed', { intent, userId, message });

    it('is found with its agent, and listed', async () => {
      const intent = named('find me');
      expect(await trigger(intent)).toEqual({ intent, status: 201, action: 'created' });
      const { agents } = await call('discover_agents');
      expect(agents.find(({ agentId }: { agentId: string }) => agentId === 'demo').intents).toContain(intent);
      const { count, triggers } = await call('list_agent_triggers');
      expect(triggers).toHaveLength(count);
      expect(triggers).toContainEqual({
        intent,
        agentDeployments: [{ agentId: 'demo', initialContext: {} }],
      });
    });

    it('has one conversation for each user', async () => {
      const intent = named('talk');
      await trigger(intent);
      const first = await chat(intent, 'ann');
      expect(Object.keys(first).slice(0, 5)).toEqual([
        'environment',
        'conversationId',
        'agentId',
        'userId',
        'intent',
      ]);
      expect(first).toMatchObject({ environment: 'production', agentId: 'demo', userId: 'ann', intent });
      expect(first.agentResponse).not.toBe('');
      const second = await chat(intent, 'ann');
      const other = await chat(intent, 'bob');
      expect(second.conversationId).toBe(first.conversationId);
      expect(other.conversationId).not.toBe(first.conversationId);
      expect(second.response.userId).toBe('ann');
    });

    it('starts one conversation, however many messages of a user come first at once', async () => {
      const intent = named('race');
      await trigger(intent);
      const answers = await Promise.all(Array.from({ length: 12 }, () => chat(intent, 'ann')));
      const ids = new Set(answers.map(({ conversationId }) => conversationId));
      expect(ids.size).toBe(1);
      const done = answers.filter(({ status }) => status === undefined);
      expect(done.length).toBeGreaterThan(0);
      expect(answers.filter(({ status }) => status === 'BUSY')).toHaveLength(answers.length - done.length);
      const [conversationId] = ids;
      const { log } = await call('read_conversation_log', { conversationId });
      expect(log.match(/^User: hello/gm)).toHaveLength(done.length);
      expect((await chat(intent, 'ann')).conversationId).toBe(conversationId);
    });

    it('begins afresh when its conversation is over, also for several messages at once', async () => {
      const intent = named('again');
      await trigger(intent);
      const { conversationId } = await chat(intent, 'ann');
      await platform.platform.store.commit(db =>
        db.updateTable('conversations').set({ state: 'ENDED' }).where('id', '=', conversationId).execute(),
      );
      const answers = await Promise.all(Array.from({ length: 6 }, () => chat(intent, 'ann')));
      const ids = new Set(answers.map(answer => answer.conversationId));
      expect(ids.size).toBe(1);
      expect(ids).not.toContain(conversationId);
    });

    it('talks to the first of its agents, and to another one from the next conversation on', async () => {
      const intent = named('first');
      await trigger(intent, ['demo', 'demo'], {
        environment: 'production',
        initialContext: { channel: 'web', groupId: 'g' },
      });
      const { triggers } = await call('list_agent_triggers');
      const listed = triggers.find((row: { intent: string }) => row.intent === intent);
      // Reserved names are left out.
      expect(listed.agentDeployments[0]).toEqual({
        agentId: 'demo',
        environment: 'production',
        initialContext: { channel: 'web' },
      });
      const { conversationId } = await chat(intent, 'ann');
      const read = await call('read_conversation', {
        conversationId,
        currentStepOnly: false,
        returnDetailed: true,
      });
      expect(JSON.stringify(read.conversationSteps)).toContain('"context:channel"');
      const config = JSON.stringify({ agentDeployments: [{ agentId: 'demo', environment: 'test' }] });
      expect(await call('update_agent_trigger', { intent, config })).toMatchObject({
        status: 200,
        action: 'updated',
      });
      expect((await chat(intent, 'ann')).conversationId).toBe(conversationId);
      await expect(chat(intent, 'bob')).rejects.toThrow('is not deployed in test; deploy it there first.');
    });

    it('is an error once it is deleted; its conversations stay readable', async () => {
      const intent = named('orphan');
      await trigger(intent);
      const { conversationId } = await chat(intent, 'ann');
      expect(await call('delete_agent_trigger', { intent })).toEqual({
        intent,
        status: 200,
        action: 'deleted',
      });
      await expect(chat(intent, 'ann')).rejects.toThrow('There is no agent trigger for the intent');
      const { log } = await call('read_conversation_log', { conversationId });
      expect(log).toContain('User: hello');
      await trigger(intent);
      expect((await chat(intent, 'ann')).conversationId).not.toBe(conversationId);
    });

    it('refuses what is no trigger, and says why', async () => {
      const create = (config: unknown) =>
        call('create_agent_trigger', {
          config: typeof config === 'string' ? config : JSON.stringify(config),
        });
      const agentDeployments = [{ agentId: 'demo' }];
      const taken = named('taken');
      await trigger(taken);
      for (const [config, message] of [
        ['{', 'config: the JSON is not well-formed'],
        [{ agentDeployments }, 'field "intent" at $.intent is missing'],
        [{ intent: 'x', agentDeployments: [] }, 'must name at least one agent'],
        [{ intent: 'x', agentDeployments, more: 1 }, 'known fields there: intent, agentDeployments'],
        [{ intent: 'x', agentDeployments: [{ agentId: 'demo', environment: 'moon' }] }, 'environment'],
        [{ intent: 'x', agentDeployments: [{ agentId: 'nobody' }] }, 'Agent "nobody" not found'],
        [{ intent: 'a/b', agentDeployments }, 'must have no /'],
        [{ intent: taken, agentDeployments }, 'is taken'],
      ] as const) {
        await expect(create(config)).rejects.toThrow(message);
      }
    });

    it('belongs to who made it, and a user talks for nobody else', async () => {
      const intent = named('mine');
      await trigger(intent);
      const person = await platform.addPerson(['patchbay-editor']);
      const theirs = await open(platform, person.key);
      try {
        expect(await theirs.call('list_agent_triggers')).toEqual({ count: 0, triggers: [] });
        const absent = 'There is no agent trigger for the intent';
        await expect(theirs.call('delete_agent_trigger', { intent })).rejects.toThrow(absent);
        const config = JSON.stringify({ agentDeployments: [{ agentId: 'demo' }] });
        await expect(theirs.call('update_agent_trigger', { intent, config })).rejects.toThrow(absent);
        const args = { intent, message: 'hello' };
        await expect(theirs.call('chat_managed', { ...args, userId: 'ann' })).rejects.toThrow(
          'Access denied',
        );
        await expect(theirs.call('chat_managed', { ...args, userId: person.userId })).rejects.toThrow(absent);
      } finally {
        await theirs.close();
      }
      expect((await chat(intent, person.userId)).response.userId).toBe(person.userId);
    });
  });
});
