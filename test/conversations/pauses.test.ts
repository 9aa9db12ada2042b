import { type EngineName, engines } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Principal } from '../../packages/server/src/kernel/principal.ts';
import {
  admin,
  ann,
  bob,
  countRows,
  errorOf,
  helloFile,
  type Rig,
  refusalOf,
  say,
  startRig,
} from './setup.ts';

const approver: Principal = { ...bob, id: 'carol', roles: new Set(['patchbay-approver']) };

/** An agent that waits for a person before it pays: what it says before and after, and how it may be told to wait. */
async function payFile(hitlConfig?: Record<string, unknown>): Promise<Record<string, unknown>> {
  const rule = (name: string, actions: string[], conditions: object[]) => ({ name, actions, conditions });
  const said = (expressions: string) => [{ type: 'inputmatcher', configs: { expressions } }];
  return helloFile({
    agent: 'pay',
    ...(hitlConfig && { hitlConfig }),
    dictionary: { words: [{ word: 'pay', expressions: 'pay' }] },
    rules: {
      behaviorGroups: [
        { name: 'pay', rules: [rule('pay', ['pay', 'PAUSE_CONVERSATION'], said('pay'))] },
        { name: 'else', rules: [rule('else', ['other'], said('unknown(*)'))] },
      ],
    },
    output: {
      outputSet: [
        {
          action: 'pay',
          outputs: [
            { valueAlternatives: [{ type: 'text', text: 'Paid: {{ memory.current.hitlDecision }}.' }] },
          ],
        },
        { action: 'other', outputs: [{ valueAlternatives: [{ type: 'text', text: 'Something else.' }] }] },
      ],
    },
  });
}

describe.each(engines)('a turn that waits for a person on %s', (engine: EngineName) => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig(engine);
    await rig.agentFiles.deploy(ann, await payFile());
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  const pay = (request = {}) => say(rig.turns, { agentId: 'pay', input: 'pay', ...request });
  const decide = (conversationId: string, more: object = {}, principal = ann) =>
    rig.pauses.decide(
      { principal, decidedBy: `mcp:${principal.id}` },
      { conversationId, verdict: 'APPROVED', ...more },
    );
  const read = (conversationId: string) =>
    rig.conversations.read(ann, { conversationId, currentStepOnly: true, returnDetailed: true });
  const textsOf = async (conversationId: string) =>
    (await read(conversationId)).conversationOutputs?.[0]?.output?.map(({ text }) => text);
  const jobs = () => rig.store.db.selectFrom('jobs').select(['kind', 'payload']).execute();

  it('says so, says nothing else, and takes no message meanwhile', async () => {
    const answer = await pay();
    expect(answer).toMatchObject({
      status: 'PAUSED_FOR_APPROVAL',
      suggestNextTool: 'resume_conversation',
      conversationState: 'AWAITING_HUMAN',
      agentResponse: '',
      actions: ['pay', 'PAUSE_CONVERSATION'],
    });
    const { conversationId } = answer;
    const before = await countRows(rig.store);
    const refusal = await refusalOf(rig.turns, { agentId: 'pay', conversationId, input: 'hello' });
    expect(refusal).toMatchObject({
      reason: 'paused',
      message: expect.stringContaining('was not processed'),
    });
    expect(await countRows(rig.store)).toEqual(before);
    expect(await rig.pauses.status(ann, conversationId)).toMatchObject({
      state: 'AWAITING_HUMAN',
      pause: { kind: 'RULE', state: 'open', timeoutPolicy: 'WAIT_INDEFINITELY', userId: 'ann' },
    });
  });

  it('goes on behind the pause when it is approved, on another node and after a restart', async () => {
    const { conversationId } = await pay({ idempotencyKey: 'once' });
    await decide(conversationId, { note: 'fine' });
    expect(await read(conversationId)).toMatchObject({ conversationState: 'IN_PROGRESS' });
    expect(await jobs()).toEqual([{ kind: 'continue-turn', payload: JSON.stringify({ conversationId }) }]);
    await rig.node('node-2').continueTurn(conversationId);
    const { conversationState, conversationOutputs, conversationSteps, conversationProperties } =
      await read(conversationId);
    expect(conversationState).toBe('READY');
    expect(conversationOutputs?.[0]).toMatchObject({
      input: 'pay',
      hitlDecision: 'APPROVED',
      hitlDecisionNote: 'fine',
      output: [{ text: 'Paid: APPROVED.' }],
    });
    expect(conversationProperties).toMatchObject({ hitlVerdict: 'APPROVED' });
    const keys = conversationSteps?.[0]?.conversationStep.map(({ key }) => key);
    expect(keys).toEqual(
      expect.arrayContaining(['hitl:decision_verdict', 'hitl:decision_note', 'hitl:decision_by']),
    );
    // The greeting and the message; what the pause had stored of the message was replaced.
    expect(await countRows(rig.store)).toMatchObject({ conversations: 1, conversation_steps: 2 });
    // A repeat of the call gets the answer it got.
    expect(await pay({ idempotencyKey: 'once' })).toMatchObject({
      status: 'PAUSED_FOR_APPROVAL',
      conversationId,
    });
    expect(await pay({ conversationId, input: 'hello' })).toMatchObject({ agentResponse: 'Something else.' });
    expect(await rig.auditBreaks(conversationId)).toEqual([]);
  });

  it('skips the rest when it is rejected, and says the note', async () => {
    const { conversationId } = await pay();
    await decide(conversationId, { verdict: 'REJECTED', note: 'Not today.' }, approver);
    await rig.turns.continueTurn(conversationId);
    expect(await textsOf(conversationId)).toEqual(['Not today.']);
    expect(await read(conversationId)).toMatchObject({ conversationState: 'READY' });
    expect(await pay({ conversationId, input: 'hello' })).toMatchObject({ conversationState: 'READY' });
  });

  it('is decided by its owner, an admin or an approver, and by nobody else (E-29, E-61)', async () => {
    for (const principal of [ann, admin, approver]) {
      const { conversationId } = await pay();
      await decide(conversationId, {}, principal);
    }
    const { conversationId } = await pay();
    for (const call of [
      () => decide(conversationId, {}, bob),
      () => rig.pauses.cancel({ principal: bob, decidedBy: 'bob' }, conversationId),
      () => rig.pauses.status(bob, conversationId),
    ]) {
      expect(await errorOf(call())).toMatchObject({ kind: 'forbidden' });
    }
    expect(await rig.pauses.list(bob, 10)).toEqual([]);
    expect((await rig.pauses.list(ann, 10)).map(pause => pause.conversationId)).toEqual([conversationId]);
    expect(await rig.pauses.list(approver, 10)).toHaveLength(1);
    expect(await errorOf(decide('conv_aaaaaaaaaaaaaaaaaaaaaaaaaa'))).toMatchObject({ kind: 'not_found' });
  });

  it('takes the first of several decisions, on whatever nodes they are made (E-32)', async () => {
    const { conversationId } = await pay();
    const { pause } = await rig.pauses.status(ann, conversationId);
    const verdicts = ['APPROVED', 'REJECTED', 'APPROVED', 'REJECTED'] as const;
    const results = await Promise.allSettled(
      verdicts.map(verdict => decide(conversationId, { verdict, pauseId: pause!.id })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ kind: 'pause_changed' });
    }
    const won = verdicts[results.findIndex(({ status }) => status === 'fulfilled')];
    await Promise.all([
      rig.node('node-2').continueTurn(conversationId),
      rig.turns.continueTurn(conversationId),
    ]);
    expect((await read(conversationId)).conversationOutputs?.[0]).toMatchObject({ hitlDecision: won });
    expect(await errorOf(decide(conversationId))).toMatchObject({
      kind: 'wrong_state',
      details: { currentState: 'READY' },
    });
    const { conversationId: other } = await pay();
    expect(await errorOf(decide(other, { pauseId: pause!.id }))).toMatchObject({ kind: 'pause_changed' });
  });

  it('ends for good when it is cancelled', async () => {
    const { conversationId } = await pay();
    const decider = { principal: ann, decidedBy: 'mcp:ann' };
    await rig.pauses.cancel(decider, conversationId);
    expect(await read(conversationId)).toMatchObject({ conversationState: 'EXECUTION_INTERRUPTED' });
    expect(await refusalOf(rig.turns, { agentId: 'pay', conversationId, input: 'hello' })).toMatchObject({
      reason: 'not_active',
      state: 'EXECUTION_INTERRUPTED',
    });
    expect(await errorOf(rig.pauses.cancel(decider, conversationId))).toMatchObject({ kind: 'wrong_state' });
    expect(await rig.store.db.selectFrom('turn_checkpoints').select('attempts').execute()).toEqual([]);
  });

  it('does not type when it goes on: nobody listens, and jobs wait for its worker', async () => {
    const file = await payFile();
    const slow = {
      action: 'pay',
      outputs: [{ valueAlternatives: [{ type: 'text', text: 'Paid.', delay: 10_000 }] }],
    };
    await rig.agentFiles.deploy(ann, { ...file, output: { outputSet: [slow] } });
    const { conversationId } = await pay();
    await decide(conversationId);
    await rig.turns.continueTurn(conversationId);
    expect(await textsOf(conversationId)).toEqual(['Paid.']);
  }, 8_000);

  it('is cancelled also when it was approved and has not gone on yet', async () => {
    const { conversationId } = await pay();
    await decide(conversationId);
    await rig.pauses.cancel({ principal: ann, decidedBy: 'mcp:ann' }, conversationId);
    await rig.turns.continueTurn(conversationId);
    expect(await read(conversationId)).toMatchObject({ conversationState: 'ERROR' });
    expect(await textsOf(conversationId)).toEqual([]);
    expect(await rig.auditBreaks(conversationId)).toEqual([]);
  });

  it.each([
    ['AUTO_APPROVE', 'READY', ['Paid: APPROVED.']],
    ['AUTO_REJECT', 'READY', []],
    ['ABORT', 'EXECUTION_INTERRUPTED', []],
  ])('does what %s says when its time is over, once', async (timeoutPolicy, state, texts) => {
    await rig.agentFiles.deploy(
      ann,
      await payFile({ timeoutPolicy, approvalTimeout: 'PT1H', pauseReason: 'Money' }),
    );
    const { conversationId } = await pay();
    const { pause } = await rig.pauses.status(ann, conversationId);
    expect(pause).toMatchObject({ timeoutPolicy, approvalTimeout: 'PT1H', reason: 'Money' });
    const [job] = await rig.store.db
      .selectFrom('jobs')
      .select(['kind', 'due_at', 'payload', 'created_at'])
      .execute();
    expect(job).toMatchObject({ kind: 'expire-pause', payload: JSON.stringify({ pauseId: pause!.id }) });
    expect(job!.due_at - job!.created_at).toBe(3_600_000);
    await Promise.all([rig.pauses.expire(pause!.id), rig.pauses.expire(pause!.id)]);
    await rig.turns.continueTurn(conversationId);
    expect(await read(conversationId)).toMatchObject({ conversationState: state });
    expect(await textsOf(conversationId)).toEqual(texts);
    await rig.pauses.expire(pause!.id);
    expect(await read(conversationId)).toMatchObject({ conversationState: state });
  });

  it('leaves an entry of every decision in the audit trail, with who made it (E-30)', async () => {
    const { conversationId } = await pay();
    await decide(conversationId, { note: 'fine' }, approver);
    const entries = await rig.auditEntries(conversationId);
    const decisions = entries.filter(({ taskId }) => taskId === 'hitl.approval');
    expect(decisions).toHaveLength(1);
    expect(decisions[0]!.output).toMatchObject({
      verdict: 'APPROVED',
      decidedBy: 'mcp:carol',
      automated: false,
      note: 'fine',
    });
  });
});

describe.each(engines)('undo and redo on %s', (engine: EngineName) => {
  it('do what a stack of turns does, whatever the order, and never run anything', async () => {
    await using rig = await startRig(engine);
    let runs = 0;
    rig.insideTurn = memory => {
      runs += 1;
      memory.setProperty('last', memory.input ?? 'start', 'conversation');
      if (memory.input?.startsWith('n')) memory.setProperty(memory.input, runs, 'conversation');
    };
    const { conversationId } = await say(rig.turns, {});
    const state = async () => {
      const row = await rig.store.db
        .selectFrom('conversations')
        .select(['step_count', 'properties', 'counters'])
        .executeTakeFirstOrThrow();
      return {
        steps: row.step_count,
        properties: JSON.parse(row.properties),
        counters: JSON.parse(row.counters),
      };
    };
    const move = (direction: 'undo' | 'redo') => rig.turns.move(ann, conversationId, direction);
    // The model: what the conversation looked like after each turn, and what was undone.
    const done = [await state()];
    const undone: Awaited<ReturnType<typeof state>>[] = [];
    // A fixed order that meets each end of both stacks.
    for (const move_ of 'uttuurutruuutrrrutu') {
      if (move_ === 't') {
        await say(rig.turns, { conversationId, input: ['n1', 'coffee', 'hours'][done.length % 3]! });
        done.push(await state());
        undone.length = 0;
      } else {
        const direction = move_ === 'u' ? 'undo' : 'redo';
        const isPossible = move_ === 'u' ? done.length > 1 : undone.length > 0;
        const before = runs;
        if (!isPossible) expect(await errorOf(move(direction))).toMatchObject({ kind: 'wrong_state' });
        else {
          if (move_ === 'u') undone.push(done.pop()!);
          else done.push(undone.pop()!);
          expect(await move(direction)).toEqual({
            conversationId,
            stepCount: done.length,
            undoAvailable: done.length > 1,
            redoAvailable: undone.length > 0,
          });
        }
        expect(runs).toBe(before);
      }
      expect(await state()).toEqual(done.at(-1));
      const read = await rig.conversations.read(ann, {
        conversationId,
        currentStepOnly: false,
        returnDetailed: false,
      });
      expect(read.conversationSteps).toHaveLength(done.length);
      expect(await rig.auditBreaks(conversationId)).toEqual([]);
    }
  });

  it('are refused while a turn runs or waits, and to others than the owner and admins', async () => {
    await using rig = await startRig(engine);
    await rig.agentFiles.deploy(ann, await payFile());
    const { conversationId } = await say(rig.turns, { agentId: 'pay', input: 'pay' });
    expect(await errorOf(rig.turns.move(ann, conversationId, 'undo'))).toMatchObject({
      kind: 'wrong_state',
    });
    expect(await errorOf(rig.turns.move(bob, conversationId, 'undo'))).toMatchObject({
      kind: 'forbidden',
    });

    const hello = await say(rig.turns, { input: 'hours' });
    rig.insideTurn = async () => {
      const error = await errorOf(rig.turns.move(ann, hello.conversationId, 'undo'));
      expect(error).toMatchObject({ kind: 'wrong_state' });
    };
    await say(rig.turns, { conversationId: hello.conversationId, input: 'hours' });
    expect(await rig.turns.move(admin, hello.conversationId, 'undo')).toMatchObject({ stepCount: 2 });
  });
});
