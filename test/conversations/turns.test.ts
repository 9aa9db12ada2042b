import { type EngineName, engines } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Fault } from '../../packages/server/src/kernel/errors.ts';
import { noteAgentChange } from '../../packages/server/src/store/tables/agent-revisions.ts';
import { createManualClock } from '../manual-clock.ts';
import {
  admin,
  ann,
  bob,
  cancelHeld,
  claim,
  countRows,
  endLease,
  errorOf,
  gate,
  helloFile,
  helloKey,
  never,
  type Rig,
  refusalOf,
  say,
  startRig,
} from './setup.ts';

describe.each(engines)('turns on %s', (engine: EngineName) => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig(engine);
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  describe('a conversation that starts', () => {
    it('greets as step 0 and waits for the first message', async () => {
      const answer = await say(rig.turns, {});
      expect(answer).toMatchObject({
        agentId: 'hello',
        environment: 'production',
        quickReplies: ['A coffee', 'Opening hours'],
        actions: ['CONVERSATION_START', 'greet'],
        conversationState: 'READY',
      });
      expect(answer.conversationId).toMatch(/^conv_[a-z2-7]{26}$/);
      expect(answer.agentResponse).toMatch(/welcome/i);
      expect(answer.response?.conversationOutputs).toHaveLength(1);
      expect(await countRows(rig.store)).toMatchObject({ conversations: 1, conversation_steps: 1 });
    });

    it('greets and answers the first message in one commit', async () => {
      const answer = await say(rig.turns, { input: 'are you open?' });
      expect(answer.agentResponse).toBe('We are open every day from 8 to 18.');
      const steps = await rig.store.db
        .selectFrom('conversation_steps')
        .select(['step_index', 'input'])
        .orderBy('step_index')
        .execute();
      expect(steps).toEqual([
        { step_index: 0, input: null },
        { step_index: 1, input: 'are you open?' },
      ]);
    });

    it('keeps the properties of the conversation for later turns, those of one turn for that turn, and shows the files of the message', async () => {
      const seen: Record<string, unknown>[] = [];
      rig.insideTurn = memory => {
        seen.push({ ...memory.properties });
        if (memory.input !== 'hours') return;
        memory.setProperty('name', 'Ann', 'conversation');
        memory.setProperty('name', 'for now', 'step');
        memory.setProperty('mood', 'fine', 'step');
        seen.push({ ...memory.properties });
      };
      const attachments = [{ fileId: 'file_1', contentType: 'text/plain', size: 3 }];
      const first = await say(rig.turns, { input: 'hours', attachments });
      const { conversationId } = first;
      expect(first.response?.conversationProperties).toEqual({ name: 'Ann' });
      expect(first.response?.conversationOutputs?.[0]).toMatchObject({ attachments });
      const next = await say(rig.node('node-2'), { conversationId, input: 'again' });
      expect(seen).toEqual([{}, {}, { name: 'for now', mood: 'fine' }, { name: 'Ann' }]);
      expect(next.response?.conversationOutputs?.[0]).not.toHaveProperty('attachments');
    });

    it('fails, and keeps nothing, when a turn would keep too much', async () => {
      const { conversationId } = await say(rig.turns, {});
      rig.insideTurn = memory => memory.setProperty('big', 'x'.repeat(200_000), 'conversation');
      const error = await errorOf(say(rig.turns, { conversationId, input: 'hours' }));
      expect(error.message).toContain('keep less');
      const read = await rig.conversations.read(ann, {
        conversationId,
        currentStepOnly: true,
        returnDetailed: false,
      });
      expect(read.conversationState).toBe('ERROR');
      expect(read.conversationProperties).toEqual({});
    });

    it('leaves one audit entry a step of the agent, in the same commit', async () => {
      const { conversationId } = await say(rig.turns, { input: 'coffee please' });
      expect(await countRows(rig.store)).toMatchObject({ audit_records: 1 });
      const entries = await rig.auditEntries(conversationId);
      expect(entries.map(entry => `${entry.stepIndex} ${entry.taskIndex} ${entry.taskId}`)).toEqual([
        '0 0 parser',
        '0 1 rules',
        '0 2 output',
        '0 3 templating',
        '1 0 parser',
        '1 1 rules',
        '1 2 output',
        '1 3 templating',
      ]);
      const rules = entries[5]!;
      expect(rules).toMatchObject({
        conversationId,
        agentId: 'hello',
        agentVersion: 1,
        userId: 'ann',
        environment: 'production',
        actions: ['take_order'],
        output: { 'behavior_rules:success': ['order'] },
      });
      expect(rules).not.toHaveProperty('input');
      expect(entries[4]!.input).toBe('coffee please');
    });

    it('belongs to whoever starts it, an agent key to itself', async () => {
      const { conversationId } = await say(rig.turns, { principal: helloKey, input: 'hello' });
      expect(await refusalOf(rig.turns, { principal: ann, conversationId, input: 'hello' })).toMatchObject({
        reason: 'unknown_conversation',
        why: 'foreign',
      });
      const again = await say(rig.turns, { principal: helloKey, conversationId, input: 'hours' });
      expect(again.conversationId).toBe(conversationId);
    });
  });

  describe('a message', () => {
    it('is answered with what the conversation has seen before', async () => {
      const { conversationId } = await say(rig.turns, {});
      const first = await say(rig.turns, { conversationId, input: 'A coffee' });
      expect(first.agentResponseParts).toEqual(['One moment: "A coffee".', 'Here you are!']);
      expect(first.agentResponse).toBe('One moment: "A coffee". Here you are!');
      const second = await say(rig.turns, { conversationId, input: 'espresso' });
      expect(second.agentResponse).toBe('Another one? Coming!');
      expect(second).not.toHaveProperty('agentResponseParts');
    });

    it('reaches conditions that look back over the whole conversation', async () => {
      const file = await helloFile();
      const rules = structuredClone(file.rules) as { behaviorGroups: { rules: unknown[] }[] };
      rules.behaviorGroups[0]!.rules.unshift({
        name: 'has ordered',
        actions: ['say_bye'],
        conditions: [
          { type: 'inputmatcher', configs: { expressions: 'drink(*)', occurrence: 'anyStep' } },
          { type: 'inputmatcher', configs: { expressions: 'ask(hours)' } },
        ],
      });
      await rig.agentFiles.deploy(ann, { ...file, rules });
      const { conversationId } = await say(rig.turns, { input: 'coffee' });
      await say(rig.turns, { conversationId, input: 'hello' });
      expect((await say(rig.turns, { conversationId, input: 'hours' })).agentResponse).toBe('Goodbye!');
      expect((await say(rig.turns, { input: 'hours' })).agentResponse).toMatch(/^We are open/);
    });

    it.each([
      ['nothing', '', /^message: is empty/],
      ['only blanks', ' \n', /^message: is empty/],
      ['U+0000', 'a\0b', /^message: .*U\+0000/],
      [
        'more characters than allowed',
        'x'.repeat(200_001),
        /^message: has 200001 characters, 200000 are allowed/,
      ],
    ])('of %s is refused before anything is touched (B-78)', async (_, input, words) => {
      const error = await errorOf(
        rig.turns.admitTurn({ principal: ann, access: 'own', agentId: 'hello', input }),
      );
      expect(error.row).toMatchObject({ httpStatus: 400, agentCode: 'invalid_param' });
      expect(error.message).toMatch(words);
      expect(await countRows(rig.store)).toMatchObject({ conversations: 0 });
    });

    it('ends the conversation when the agent says so, which then takes no more', async () => {
      const ended = await say(rig.turns, { input: 'bye' });
      expect(ended).toMatchObject({ conversationState: 'ENDED', agentResponse: 'Goodbye!' });
      const { conversationId } = ended;
      expect(await refusalOf(rig.turns, { conversationId, input: 'hello' })).toMatchObject({
        reason: 'not_active',
        state: 'ENDED',
        conversationId,
      });
      expect(await countRows(rig.store)).toMatchObject({ conversation_steps: 2 });
    });

    it('finds the conversation in the environment it was started in, whichever it names (E-19)', async () => {
      await rig.store.db.updateTable('deployments').set({ environment: 'test' }).execute();
      await noteAgentChange(rig.store.db, 'hello');
      const { conversationId, environment } = await say(rig.turns, { environment: 'test' });
      expect(environment).toBe('test');
      const next = await say(rig.turns, { conversationId, environment: 'production', input: 'hours' });
      expect(next.environment).toBe('test');
    });

    it('tells missing, foreign and other agents apart only inside', async () => {
      await rig.agentFiles.deploy(ann, await helloFile({ agent: 'other' }));
      const { conversationId } = await say(rig.turns, {});
      const unknown = { reason: 'unknown_conversation' };
      const missing = 'conv_aaaaaaaaaaaaaaaaaaaaaaaaaa';
      expect(await refusalOf(rig.turns, { conversationId: missing, input: 'x' })).toEqual({
        ...unknown,
        why: 'missing',
      });
      expect(await refusalOf(rig.turns, { principal: bob, conversationId, input: 'x' })).toEqual({
        ...unknown,
        why: 'foreign',
      });
      expect(await refusalOf(rig.turns, { agentId: 'other', conversationId, input: 'x' })).toEqual({
        ...unknown,
        why: 'other_agent',
      });
    });

    it('reaches foreign agents and conversations for an admin only where admins may', async () => {
      const { conversationId } = await say(rig.turns, {});
      expect(await refusalOf(rig.turns, { principal: bob, input: 'x' })).toMatchObject({
        reason: 'agent_unknown',
      });
      expect(await refusalOf(rig.turns, { principal: admin, input: 'x' })).toMatchObject({
        reason: 'agent_unknown',
      });
      expect(await refusalOf(rig.turns, { principal: admin, conversationId, input: 'x' })).toMatchObject({
        why: 'foreign',
      });
      const answer = await say(rig.turns, {
        principal: admin,
        access: 'own-or-admin',
        conversationId,
        input: 'hours',
      });
      expect(answer.response?.userId).toBe('ann');
    });
  });

  describe('at the same time', () => {
    it('a conversation runs one turn and answers BUSY to the other', async () => {
      const { conversationId } = await say(rig.turns, {});
      const admissions = await Promise.all([
        rig.turns.admitTurn({
          principal: ann,
          access: 'own',
          agentId: 'hello',
          conversationId,
          input: 'coffee',
        }),
        rig.node('node-2').admitTurn({
          principal: ann,
          access: 'own',
          agentId: 'hello',
          conversationId,
          input: 'hours',
        }),
      ]);
      expect(admissions.map(({ kind }) => kind).sort()).toEqual(['claimed', 'refused']);
      const refused = admissions.find(({ kind }) => kind === 'refused');
      expect(refused).toMatchObject({ refusal: { reason: 'busy', conversationId } });
      const shown = await rig.conversations.read(ann, {
        conversationId,
        currentStepOnly: true,
        returnDetailed: false,
      });
      expect(shown.conversationState).toBe('IN_PROGRESS');
      const claimed = admissions.find(({ kind }) => kind === 'claimed');
      if (claimed?.kind === 'claimed') await claimed.turn.run({ signal: never });
      expect((await say(rig.turns, { conversationId, input: 'hours' })).agentResponse).toMatch(
        /^We are open/,
      );
    });

    it('different conversations do not wait for each other', async () => {
      const first = await claim(rig.turns, { input: 'hours' });
      const second = await claim(rig.turns, { input: 'hours' });
      const [a, b] = await Promise.all([first.run({ signal: never }), second.run({ signal: never })]);
      expect(a.agentResponse).toBe(b.agentResponse);
      expect(a.conversationId).not.toBe(b.conversationId);
    });

    it('a turn is cancelled from outside, also when it is claimed and has not begun', async () => {
      const { conversationId } = await say(rig.turns, {});
      const claimed = await claim(rig.turns, { conversationId, input: 'hours' });
      await cancelHeld([rig.turns], rig.store, conversationId);
      expect(await errorOf(claimed.run({ signal: never }))).toMatchObject({ kind: 'cancelled' });
      // That was for this turn, not for the next one.
      expect(await say(rig.turns, { conversationId, input: 'hours' })).toMatchObject({
        conversationState: 'READY',
      });
      rig.insideTurn = async () => {
        await cancelHeld([rig.turns], rig.store, conversationId);
        await new Promise(() => {});
      };
      expect(await errorOf(say(rig.turns, { conversationId, input: 'hours' }))).toMatchObject({
        kind: 'cancelled',
      });
    });

    it('a cancellation that comes too late or was for another node is not kept for the next turn', async () => {
      const { conversationId } = await say(rig.turns, {});
      // While a turn is claimed here and has not begun, cancellations are kept for turns that are about to begin.
      const other = await claim(rig.turns, { input: 'hours' });
      await cancelHeld([rig.turns], rig.store, conversationId);
      expect(await say(rig.turns, { conversationId, input: 'hours' })).toMatchObject({
        conversationState: 'READY',
      });
      expect(await other.run({ signal: never })).toMatchObject({ conversationState: 'READY' });
    });

    it('a holder that fell silent is replaced, and cannot commit when it comes back', async () => {
      const { conversationId } = await say(rig.turns, {});
      const silent = await claim(rig.turns, { conversationId, input: 'coffee' });
      await endLease(rig.store, conversationId);
      const successor = await say(rig.node('node-2'), { conversationId, input: 'hours' });
      expect(successor.agentResponse).toMatch(/^We are open/);
      await expect(silent.run({ signal: never })).rejects.toBeInstanceOf(Fault);
      const log = await rig.conversations.readLog(ann, { conversationId });
      expect(log).not.toContain('coffee.');
      expect(await countRows(rig.store)).toMatchObject({ conversation_steps: 2, audit_records: 2 });
      expect((await say(rig.turns, { conversationId, input: 'hours' })).conversationState).toBe('READY');
    });

    it('a long turn keeps its lease, and stops when it finds it lost', async () => {
      const clock = createManualClock();
      const turns = rig.node('node-2', { clock });
      const { conversationId } = await say(rig.turns, {});
      const turn = await claim(turns, { conversationId, input: 'hours' });
      const { opened, open } = gate();
      const started = gate();
      rig.insideTurn = () => {
        started.open();
        return opened;
      };
      const running = turn.run({ signal: never });
      await started.opened;
      await endLease(rig.store, conversationId);
      await clock.advance(5_000);
      await expect
        .poll(() => refusalOf(rig.turns, { conversationId, input: 'x' }).catch(() => undefined))
        .toMatchObject({ reason: 'busy' });
      await rig.store.db.updateTable('conversations').set({ lease_fence: 99 }).execute();
      await clock.advance(5_000);
      await expect(running).rejects.toMatchObject({ code: 'lease_lost' });
      open();
    });

    it('what a node held when it went down is free after its restart', async () => {
      const { conversationId } = await say(rig.turns, {});
      const lost = await claim(rig.turns, { conversationId, input: 'coffee' });
      const unborn = await claim(rig.turns, { input: 'coffee' });
      const elsewhere = await claim(rig.node('node-2'), { input: 'hours' });
      const restarted = rig.node('node-1');
      await restarted.releaseLeasesOf('node-1');
      expect((await say(restarted, { conversationId, input: 'hours' })).conversationState).toBe('READY');
      await expect(lost.run({ signal: never })).rejects.toBeInstanceOf(Fault);
      await expect(unborn.run({ signal: never })).rejects.toBeInstanceOf(Fault);
      expect((await elsewhere.run({ signal: never })).agentResponse).toMatch(/^We are open/);
    });
  });

  it('of a node that never comes back leave no conversation without a step', async () => {
    const unborn = await claim(rig.turns, { input: 'hours' });
    const alive = await claim(rig.turns, { input: 'hours' });
    await endLease(rig.store, unborn.conversationId);
    await rig.turns.removeLeftovers();
    expect(await countRows(rig.store)).toMatchObject({ conversations: 1 });
    await expect(unborn.run({ signal: never })).rejects.toBeInstanceOf(Fault);
    expect((await alive.run({ signal: never })).conversationState).toBe('READY');
  });

  describe('that end early', () => {
    it('leave nothing behind when their time is up', async () => {
      const turns = rig.node('node-1', { turnTimeoutMs: 30 });
      const { conversationId } = await say(rig.turns, {});
      const before = await countRows(rig.store);
      rig.insideTurn = () => new Promise(() => undefined);
      const error = await errorOf(say(turns, { conversationId, input: 'coffee' }));
      expect(error.kind).toBe('timeout');
      expect(error.message).toContain('0.03 seconds');
      expect((await errorOf(say(turns, { input: 'coffee' }))).kind).toBe('timeout');
      expect(await countRows(rig.store)).toEqual(before);
      rig.insideTurn = () => undefined;
      expect((await say(turns, { conversationId, input: 'hours' })).conversationState).toBe('READY');
    });

    it('leave nothing behind when the caller goes away, also while the agent types', async () => {
      const { conversationId } = await say(rig.turns, {});
      const before = await countRows(rig.store);
      const caller = new AbortController();
      const turn = await claim(rig.turns, { conversationId, input: 'coffee' });
      const heard: string[] = [];
      const error = await errorOf(
        turn.run({
          signal: caller.signal,
          onEvent: event => {
            heard.push(event.text);
            caller.abort();
          },
        }),
      );
      expect(error.kind).toBe('cancelled');
      expect(heard).toEqual(['One moment: "coffee".']);
      expect(await countRows(rig.store)).toEqual(before);
      expect((await say(rig.turns, { conversationId, input: 'hours' })).conversationState).toBe('READY');
    });

    it('are over at once when the caller had gone before they began', async () => {
      const turn = await claim(rig.turns, { input: 'coffee' });
      expect((await errorOf(turn.run({ signal: AbortSignal.abort() }))).kind).toBe('cancelled');
      expect(await countRows(rig.store)).toMatchObject({ conversations: 0 });
    });

    it('can be given back unused', async () => {
      const { conversationId } = await say(rig.turns, {});
      await (await claim(rig.turns, { conversationId, input: 'coffee' })).release();
      expect((await say(rig.turns, { conversationId, input: 'hours' })).conversationState).toBe('READY');
    });

    it('are recorded when a step fails; the caller learns which, not why (E-24)', async () => {
      const { conversationId } = await say(rig.turns, {});
      rig.insideTurn = () => {
        throw new Error('secret of the database');
      };
      const error = await errorOf(say(rig.turns, { conversationId, input: 'coffee' }));
      expect(error.row.errorCode).toBe('INTERNAL');
      expect(error.message).toBe('Agent "hello" failed in its step rules; the server log says why.');
      expect(error.details).toEqual({ conversationId });
      const shown = await rig.conversations.read(ann, {
        conversationId,
        currentStepOnly: true,
        returnDetailed: true,
      });
      expect(shown.conversationState).toBe('ERROR');
      expect(shown.conversationOutputs?.[0]).toMatchObject({
        input: 'coffee',
        taskErrors: [{ taskId: 'rules', message: 'Step rules failed.' }],
      });
      expect(JSON.stringify(shown)).not.toContain('secret');
      const audit = (await rig.auditEntries(conversationId)).filter(({ stepIndex }) => stepIndex === 1);
      expect(audit.map(({ taskId }) => taskId)).toEqual(['parser', 'rules']);
      expect(audit[1]!.output).toEqual({ error: 'Step rules failed.' });

      rig.insideTurn = () => undefined;
      const next = await say(rig.turns, { conversationId, input: 'hours' });
      expect(next).toMatchObject({ conversationState: 'READY' });
    });
  });

  describe('and their readers', () => {
    it('hear every bubble in order, after the time it takes to type it, before the answer', async () => {
      const clock = createManualClock();
      const turn = await claim(rig.node('node-1', { clock }), { input: 'coffee' });
      const events: unknown[] = [];
      const running = turn.run({ signal: never, onEvent: event => events.push(event) });
      await expect.poll(() => events).toHaveLength(1);
      await clock.advance(299);
      expect(events).toEqual([{ type: 'reply-delta', text: 'One moment: "coffee".', index: 0 }]);
      await clock.advance(1);
      expect(events[1]).toEqual({ type: 'reply-delta', text: 'Here you are!', index: 1 });
      const answer = await running;
      expect(answer.agentResponseParts).toEqual(['One moment: "coffee".', 'Here you are!']);
    });
  });

  describe('of an agent', () => {
    it('that is not there or not deployed are refused', async () => {
      expect(await refusalOf(rig.turns, { agentId: 'nobody', input: 'x' })).toEqual({
        reason: 'agent_unknown',
        agentId: 'nobody',
      });
      expect(await refusalOf(rig.turns, { environment: 'test', input: 'x' })).toMatchObject({
        reason: 'agent_unavailable',
        why: 'not_deployed',
      });
    });

    it('go on with the version the conversation began with', async () => {
      const { conversationId } = await say(rig.turns, {});
      const output = structuredClone((await helloFile()).output) as { outputSet: unknown[] };
      output.outputSet = [
        { action: 'tell_hours', outputs: [{ valueAlternatives: [{ type: 'text', text: 'Closed.' }] }] },
      ];
      await rig.agentFiles.deploy(ann, await helloFile({ output }));
      expect((await say(rig.turns, { conversationId, input: 'hours' })).agentResponse).toMatch(
        /^We are open/,
      );
      const fresh = await say(rig.turns, { input: 'hours' });
      expect(fresh.agentResponse).toBe('Closed.');
      expect(fresh.response?.agentVersion).toBe(2);
    });
  });
});
