import { type EngineName, engines } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { admin, ann, bob, claim, errorOf, helloFile, helloKey, type Rig, say, startRig } from './setup.ts';

describe.each(engines)('conversations on %s', (engine: EngineName) => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig(engine);
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  const whole = { currentStepOnly: false, returnDetailed: false };

  async function threeTurns(): Promise<string> {
    const { conversationId } = await say(rig.turns, { input: 'hours', context: { mcp: 'true' } });
    await say(rig.turns, { conversationId, input: 'espresso' });
    return conversationId;
  }

  describe('when read', () => {
    it('show the latest step, or all of them', async () => {
      const conversationId = await threeTurns();
      const latest = await rig.conversations.read(ann, { conversationId, ...whole, currentStepOnly: true });
      expect(latest).toMatchObject({
        conversationId,
        agentId: 'hello',
        agentVersion: 1,
        userId: 'ann',
        environment: 'production',
        conversationState: 'READY',
        conversationProperties: {},
      });
      expect(latest.conversationOutputs?.map(({ input }) => input)).toEqual(['espresso']);
      const all = await rig.conversations.read(ann, { conversationId, ...whole });
      expect(all.conversationOutputs?.map(({ input }) => input)).toEqual([undefined, 'hours', 'espresso']);
      expect(all.conversationSteps).toHaveLength(3);
    });

    it('keep what agents note for themselves out of the steps, unless details are asked for', async () => {
      const conversationId = await threeTurns();
      const keysOf = async (returnDetailed: boolean) => {
        const { conversationSteps } = await rig.conversations.read(ann, {
          conversationId,
          currentStepOnly: false,
          returnDetailed,
        });
        return conversationSteps![1]!.conversationStep.map(({ key }) => key);
      };
      expect(await keysOf(false)).toEqual(['input:initial', 'input', 'actions', 'output:text:tell_hours:0']);
      expect(await keysOf(true)).toEqual([
        'input:initial',
        'input',
        'context:mcp',
        'expressions',
        'intents',
        'actions',
        'behavior_rules:success',
        'behavior_rules:fail',
        'output:text:tell_hours:0',
      ]);
    });

    it('name the workflow a value comes from', async () => {
      const conversationId = await threeTurns();
      const { conversationSteps } = await rig.conversations.read(ann, { conversationId, ...whole });
      const datum = conversationSteps![1]!.conversationStep.find(({ key }) => key.startsWith('output:'));
      expect(datum).toMatchObject({
        originWorkflowId: 'hello',
        value: { type: 'text', text: 'We are open every day from 8 to 18.' },
      });
    });

    it.each([
      ['conversationSteps', ['conversationSteps'], undefined],
      [
        'conversationOutputs , conversationProperties',
        ['conversationOutputs', 'conversationProperties'],
        undefined,
      ],
      ['actions', ['conversationOutputs'], ['actions']],
      [' output, input ,', ['conversationOutputs'], ['input', 'output']],
      ['conversationSteps,actions', ['conversationOutputs', 'conversationSteps'], ['actions']],
      ['', ['conversationOutputs', 'conversationProperties', 'conversationSteps'], undefined],
    ])('return the fields asked for: "%s"', async (returningFields, sections, keys) => {
      const conversationId = await threeTurns();
      const shown = await rig.conversations.read(ann, {
        conversationId,
        currentStepOnly: true,
        returnDetailed: false,
        returningFields,
      });
      const given = Object.keys(shown).filter(key => /^conversation(Steps|Outputs|Properties)$/.test(key));
      expect(given.sort()).toEqual(sections);
      if (keys) expect(Object.keys(shown.conversationOutputs![0]!).sort()).toEqual(keys);
    });

    it('are IN_PROGRESS while a turn runs', async () => {
      const { conversationId } = await say(rig.turns, {});
      const turn = await claim(rig.turns, { conversationId, input: 'hours' });
      expect((await rig.conversations.read(ann, { conversationId, ...whole })).conversationState).toBe(
        'IN_PROGRESS',
      );
      const listed = await rig.conversations.list(ann, {
        agentId: 'hello',
        conversationState: 'IN_PROGRESS',
        limit: 10,
      });
      expect(listed.map(({ id }) => id)).toEqual([conversationId]);
      await turn.release();
      expect((await rig.conversations.read(ann, { conversationId, ...whole })).conversationState).toBe(
        'READY',
      );
    });

    it('are not there before their first step is stored', async () => {
      const turn = await claim(rig.turns, { input: 'hours' });
      const { conversationId } = turn;
      expect(await errorOf(rig.conversations.read(ann, { conversationId, ...whole }))).toMatchObject({
        kind: 'not_found',
        message: 'Conversation not found.',
      });
      expect(await rig.conversations.list(ann, { agentId: 'hello', limit: 10 })).toEqual([]);
      await turn.release();
    });
  });

  describe('belong to their owners (E-57)', () => {
    it('and are closed to others in one text, which names nobody', async () => {
      const conversationId = await threeTurns();
      const refusals = [
        await errorOf(rig.conversations.read(bob, { conversationId, ...whole })),
        await errorOf(rig.conversations.readLog(bob, { conversationId })),
        await errorOf(rig.conversations.readLog(helloKey, { conversationId })),
      ];
      for (const refusal of refusals) {
        expect(refusal.kind).toBe('forbidden');
        expect(refusal.message).toBe('Access denied: you do not own this conversation.');
      }
    });

    it('and are open to an admin', async () => {
      const conversationId = await threeTurns();
      const shown = await rig.conversations.read(admin, { conversationId, ...whole });
      expect(shown.userId).toBe('ann');
    });

    it('and unknown ones are not found', async () => {
      const conversationId = 'conv_aaaaaaaaaaaaaaaaaaaaaaaaaa';
      expect(await errorOf(rig.conversations.readLog(ann, { conversationId }))).toMatchObject({
        kind: 'not_found',
        message: 'Conversation not found.',
      });
    });
  });

  describe('as text', () => {
    it('are lines of User and Agent, the last turns only when asked', async () => {
      const conversationId = await threeTurns();
      const log = await rig.conversations.readLog(ann, { conversationId });
      expect(log.split('\n')).toEqual([
        expect.stringMatching(/^Agent: .*[Ww]elcome.*/),
        'User: hours',
        'Agent: We are open every day from 8 to 18.',
        'User: espresso',
        'Agent: One moment: "espresso". Here you are!',
      ]);
      const short = await rig.conversations.readLog(ann, { conversationId, logSize: 1 });
      expect(short).toBe('User: espresso\nAgent: One moment: "espresso". Here you are!');
    });

    it('say who spoke even when nobody answered', async () => {
      const { conversationId } = await say(rig.turns, {});
      rig.insideTurn = () => {
        throw new Error('broken');
      };
      await errorOf(say(rig.turns, { conversationId, input: 'hours' }));
      const log = await rig.conversations.readLog(ann, { conversationId, logSize: 1 });
      expect(log).toBe('User: hours');
    });
  });

  describe('in lists', () => {
    it('are the own ones, latest first, for an admin all', async () => {
      const first = await say(rig.turns, {});
      const second = await say(rig.turns, { input: 'bye' });
      const keys = await say(rig.turns, { principal: helloKey });
      await say(rig.turns, { conversationId: first.conversationId, input: 'hours' });
      const ids = async (principal: typeof ann, more: object = {}) =>
        (await rig.conversations.list(principal, { agentId: 'hello', limit: 10, ...more })).map(
          ({ id }) => id,
        );
      expect(await ids(ann)).toEqual([first.conversationId, second.conversationId]);
      expect(await ids(helloKey)).toEqual([keys.conversationId]);
      expect(await ids(bob)).toEqual([]);
      expect((await ids(admin)).toSorted()).toEqual(
        [first, second, keys].map(({ conversationId }) => conversationId).toSorted(),
      );
      expect(await ids(ann, { conversationState: 'ENDED' })).toEqual([second.conversationId]);
      expect(await ids(ann, { conversationState: 'READY' })).toEqual([first.conversationId]);
      expect(await ids(ann, { limit: 1 })).toEqual([first.conversationId]);
    });

    it('are of all versions, or of one (E-17)', async () => {
      const old = await say(rig.turns, {});
      await rig.agentFiles.deploy(ann, await helloFile({ name: 'Hello again' }));
      const fresh = await say(rig.turns, {});
      const list = (agentVersion?: number) =>
        rig.conversations.list(ann, { agentId: 'hello', agentVersion, limit: 10 });
      expect(await list()).toHaveLength(2);
      expect(await list(1)).toMatchObject([
        {
          id: old.conversationId,
          agentId: 'hello',
          agentVersion: 1,
          agentName: 'Hello again',
          userId: 'ann',
          stepCount: 1,
          environment: 'production',
          state: 'READY',
          leased: false,
        },
      ]);
      expect((await list(2)).map(({ id }) => id)).toEqual([fresh.conversationId]);
    });
  });
});
