import { engines } from '@patchbay/testing/stores';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StepTools, TurnMemory } from '../../packages/server/src/agents/step/step.ts';
import { toRefusalError } from '../../packages/server/src/agents/turn/refusal.ts';
import { STEP_TYPES } from '../../packages/server/src/agents/turn/steps.ts';
import { endActiveConversations } from '../../packages/server/src/store/tables/conversations.ts';
import {
  beginToAct,
  isTurnCancelled,
  putCheckpoint,
} from '../../packages/server/src/store/tables/turn-checkpoints.ts';
import { createManualClock } from '../manual-clock.ts';
import {
  ann,
  claim,
  countRows,
  endLease,
  errorOf,
  fallenSilent,
  gate,
  never,
  type Rig,
  refusalOf,
  say,
  startAgain,
  startRig,
} from './setup.ts';

/** Something in the world that counts what is done to it. */
function counter() {
  let count = 0;
  return {
    add: async () => ({ count: ++count }),
    get count() {
      return count;
    },
  };
}

describe.each(engines)('what a turn does in the world on %s', engine => {
  let rig: Rig;
  let world: ReturnType<typeof counter>;
  /** What the effects of each run of the turn came to. */
  let outcomes: unknown[];
  beforeEach(async () => {
    rig = await startRig(engine);
    world = counter();
    outcomes = [];
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  const act = async (tools: StepTools, run: () => Promise<unknown> = world.add) => {
    outcomes.push(await tools.effect('add one', run));
  };
  const isMessage = (memory: TurnMemory) => memory.input !== undefined;
  const read = (conversationId: string) =>
    rig.conversations.read(ann, { conversationId, currentStepOnly: true, returnDetailed: false });
  /** What is left of a turn in the tables that only turns under way have rows in. */
  const leftOf = async () => ({
    checkpoints: await rig.store.db.selectFrom('turn_checkpoints').select('attempts').execute(),
    effects: await rig.store.db.selectFrom('effects').select('what').execute(),
  });
  const forever = () => new Promise<never>(() => {});

  /** A turn that acts in its message and whose node then falls silent: inside `stuck`, or in the effect itself. */
  async function cutOff(
    request: { conversationId?: string; idempotencyKey?: string; inEffect?: boolean } = {},
  ) {
    const { inEffect, ...said } = request;
    const reached = gate();
    let isFirst = true;
    rig.insideTurn = async (memory, tools) => {
      if (!isMessage(memory)) return;
      const stuck = isFirst;
      isFirst = false;
      await act(tools, async () => {
        const outcome = await world.add();
        if (!stuck || !inEffect) return outcome;
        reached.open();
        return forever();
      });
      if (!stuck) return;
      reached.open();
      await forever();
    };
    void say(rig.turns, { input: 'hours', ...said }).catch(() => {});
    await reached.opened;
    return fallenSilent(rig.store);
  }

  it('is written down before and after, and nothing of it is left when the turn has ended', async () => {
    rig.insideTurn = async (memory, tools) => {
      if (!isMessage(memory)) return;
      await act(tools);
      expect((await leftOf()).effects).toEqual([{ what: 'add one' }]);
      await act(tools);
    };
    const answer = await say(rig.turns, { input: 'hours' });
    expect(outcomes).toEqual([1, 2].map(count => ({ kind: 'done', value: { count } })));
    expect(await leftOf()).toEqual({ checkpoints: [], effects: [] });
    expect((await read(answer.conversationId)).conversationState).toBe('READY');
  });

  it('is done once when the node falls silent after it: another one goes on with the outcome', async () => {
    const id = await cutOff();
    await rig.node('node-2').continueTurn(id);
    expect(world.count).toBe(1);
    expect(outcomes).toEqual([
      { kind: 'done', value: { count: 1 } },
      { kind: 'done', value: { count: 1 } },
    ]);
    const conversation = await read(id);
    expect(conversation.conversationState).toBe('READY');
    expect(conversation.conversationOutputs?.[0]?.output).toMatchObject([{ type: 'text' }]);
    expect(await countRows(rig.store)).toMatchObject({ conversations: 1, conversation_steps: 2 });
    expect(await leftOf()).toEqual({ checkpoints: [], effects: [] });
  });

  it('is done once when the end of its turn could not be stored: another node goes on with the outcome', async () => {
    rig.insideTurn = (memory, tools) => (isMessage(memory) ? act(tools) : undefined);
    const failing = rig.node('node-2', { onStored: () => Promise.reject(new Error('the disk is full')) });
    await expect(say(failing, { input: 'hours', logged: true })).rejects.toThrow('the disk is full');
    const { id } = await rig.store.db.selectFrom('conversations').select('id').executeTakeFirstOrThrow();
    await rig.node('node-3').continueTurn(id);
    expect(world.count).toBe(1);
    expect(outcomes).toEqual([1, 1].map(count => ({ kind: 'done', value: { count } })));
    expect(await leftOf()).toEqual({ checkpoints: [], effects: [] });
  });

  it('is reported as unknown when the node fell silent in the middle of it, and not done again', async () => {
    const id = await cutOff({ inEffect: true });
    await rig.node('node-2').continueTurn(id);
    expect(world.count).toBe(1);
    expect(outcomes).toEqual([{ kind: 'unknown' }]);
    expect((await read(id)).conversationState).toBe('READY');
  });

  it('keeps the conversation busy until somebody has gone on, and is found by whoever looks for it', async () => {
    const { conversationId } = await say(rig.turns, {});
    await cutOff({ conversationId });
    expect((await read(conversationId)).conversationState).toBe('IN_PROGRESS');
    expect(await refusalOf(rig.turns, { conversationId, input: 'again' })).toMatchObject({ reason: 'busy' });
    const [listed] = await rig.conversations.list(ann, {
      agentId: 'hello',
      conversationState: 'IN_PROGRESS',
      limit: 10,
    });
    expect(listed).toMatchObject({ id: conversationId });

    const node = rig.node('node-2');
    await node.takeUpCutOffTurns();
    const jobs = await rig.store.db.selectFrom('jobs').select(['kind', 'payload']).execute();
    expect(jobs).toEqual([{ kind: 'continue-turn', payload: JSON.stringify({ conversationId }) }]);
    await node.continueTurn(conversationId);
    rig.insideTurn = () => undefined;
    expect(await say(rig.turns, { conversationId, input: 'again' })).toMatchObject({
      conversationState: 'READY',
    });
  });

  it('is not lost with the conversation that was about to start with it', async () => {
    const id = await cutOff();
    await rig.turns.removeLeftovers();
    await rig.turns.releaseLeasesOf('node-1');
    await rig.node('node-2').continueTurn(id);
    expect(await countRows(rig.store)).toMatchObject({ conversations: 1, conversation_steps: 2 });
  });

  it('is gone on with by one node of several', async () => {
    const id = await cutOff();
    await Promise.all([rig.node('node-2').continueTurn(id), rig.node('node-3').continueTurn(id)]);
    expect(outcomes).toHaveLength(2);
    expect(await countRows(rig.store)).toMatchObject({ conversation_steps: 2 });
  });

  it('is shut out when the silent node comes back', async () => {
    const back = gate();
    const reached = gate();
    let runs = 0;
    rig.insideTurn = async (memory, tools) => {
      if (!isMessage(memory)) return;
      runs += 1;
      await act(tools);
      if (runs > 1) return;
      reached.open();
      await back.opened;
      await act(tools);
    };
    const { conversationId } = await say(rig.turns, {});
    const late = say(rig.turns, { conversationId, input: 'hours' });
    await reached.opened;
    await endLease(rig.store, conversationId);
    await rig.node('node-2').continueTurn(conversationId);
    back.open();
    await expect(late).rejects.toThrow();
    // The second one was never begun: its intent needs the lease.
    expect(world.count).toBe(1);
    expect((await read(conversationId)).conversationState).toBe('READY');
  });

  it('makes a repeat of the call wait, and gives it the answer of the node that went on (B-66)', async () => {
    const request = { input: 'hours', idempotencyKey: 'once' };
    const id = await cutOff({ idempotencyKey: 'once' });
    expect(await refusalOf(rig.turns, request)).toEqual({ reason: 'key_in_flight' });
    await rig.node('node-2').continueTurn(id);
    const answer = await say(rig.turns, request);
    expect(answer).toMatchObject({ conversationId: id, conversationState: 'READY' });
    expect(world.count).toBe(1);
  });

  it('goes on also when the key of its call has expired meanwhile (B-66)', async () => {
    const id = await cutOff({ idempotencyKey: 'once' });
    await rig.store.db.updateTable('idempotency_keys').set({ expires_at: 1 }).execute();
    await rig.turns.removeLeftovers();
    expect(await countRows(rig.store)).toMatchObject({ idempotency_keys: 0 });
    await rig.node('node-2').continueTurn(id);
    expect((await read(id)).conversationState).toBe('READY');
    expect(world.count).toBe(1);
    expect(await leftOf()).toEqual({ checkpoints: [], effects: [] });
  });

  it('is recorded when the time of the turn is over, and a repeat of the call does not run it again', async () => {
    const clock = createManualClock();
    const turns = rig.node('node-2', { clock, turnTimeoutMs: 1_000 });
    const reached = gate();
    rig.insideTurn = async (memory, tools) => {
      if (!isMessage(memory)) return;
      await act(tools);
      void tools.effect('never ends', forever);
      reached.open();
      await forever();
    };
    const { conversationId } = await say(rig.turns, {});
    const request = { conversationId, input: 'hours', idempotencyKey: 'once' };
    const failing = errorOf(say(turns, request));
    await reached.opened;
    await expect.poll(async () => (await leftOf()).effects.length).toBe(2);
    await clock.advance(1_000);
    const error = await failing;
    expect(error).toMatchObject({ kind: 'timeout' });
    expect(error.message).toContain('unknown whether this was done: never ends');
    const conversation = await read(conversationId);
    expect(conversation.conversationState).toBe('ERROR');
    expect(conversation.conversationOutputs?.[0]).toMatchObject({
      input: 'hours',
      taskErrors: [{ taskId: 'turn' }],
    });
    expect(await leftOf()).toEqual({ checkpoints: [], effects: [] });

    const refusal = await refusalOf(turns, request);
    expect(toRefusalError(refusal)).toMatchObject({ kind: 'timeout', message: error.message });
    expect(error.message).toContain('never ends');
    expect(world.count).toBe(1);
  });

  it('is recorded when the caller goes away, and the conversation takes the next message', async () => {
    const caller = new AbortController();
    rig.insideTurn = async (memory, tools) => {
      if (!isMessage(memory)) return;
      await act(tools);
      caller.abort();
      await forever();
    };
    const { conversationId } = await say(rig.turns, {});
    const error = await errorOf(
      say(rig.turns, { conversationId, input: 'hours' }, { signal: caller.signal }),
    );
    expect(error).toMatchObject({ kind: 'cancelled' });
    expect((await read(conversationId)).conversationState).toBe('ERROR');
    rig.insideTurn = () => undefined;
    expect(await say(rig.turns, { conversationId, input: 'hours' })).toMatchObject({
      conversationState: 'READY',
    });
  });

  it('ends with its turn: a step that still runs after a cancellation does nothing more in the world', async () => {
    const caller = new AbortController();
    const back = gate();
    let late: Promise<unknown> | undefined;
    rig.insideTurn = async (memory, tools) => {
      if (!isMessage(memory)) return;
      await act(tools);
      caller.abort();
      late = back.opened.then(() => act(tools));
      await late;
    };
    const { conversationId } = await say(rig.turns, {});
    await errorOf(say(rig.turns, { conversationId, input: 'hours' }, { signal: caller.signal }));
    back.open();
    await expect(late).rejects.toThrow();
    expect(world.count).toBe(1);
    expect(await leftOf()).toEqual({ checkpoints: [], effects: [] });
    expect((await read(conversationId)).conversationState).toBe('ERROR');
  });

  it('is not begun when the turn ends while its intent is written, and the turn is recorded (B-66)', async () => {
    const caller = new AbortController();
    const written = gate();
    // The commit of the intent is durable, and the word of it is late.
    const store: Rig['store'] = Object.create(rig.store, {
      commit: {
        value: async (unit: Parameters<Rig['store']['commit']>[0]) => {
          const before = (await leftOf()).effects.length;
          const result = await rig.store.commit(unit);
          if ((await leftOf()).effects.length <= before) return result;
          caller.abort();
          await written.opened;
          return result;
        },
      },
    });
    let late: Promise<unknown> | undefined;
    rig.insideTurn = async (memory, tools) => {
      if (!isMessage(memory)) return;
      late = act(tools);
      await late;
    };
    const turns = rig.node('node-2', { store });
    const { conversationId } = await say(rig.turns, {});
    const request = { conversationId, input: 'hours', idempotencyKey: 'once' };
    const error = await errorOf(say(turns, request, { signal: caller.signal }));
    expect(error).toMatchObject({ kind: 'cancelled', message: expect.not.stringContaining('nothing') });
    written.open();
    await expect(late).rejects.toThrow();
    expect(world.count).toBe(0);
    expect((await read(conversationId)).conversationState).toBe('ERROR');
    expect(await leftOf()).toEqual({ checkpoints: [], effects: [] });
    expect(await refusalOf(rig.turns, request)).toMatchObject({ reason: 'key_failed' });
  });

  it('goes on elsewhere when the node stops in the middle of the turn', async () => {
    const reached = gate();
    let runs = 0;
    rig.insideTurn = async (memory, tools) => {
      if (!isMessage(memory)) return;
      runs += 1;
      await act(tools);
      if (runs > 1) return;
      reached.open();
      await forever();
    };
    const { conversationId } = await say(rig.turns, {});
    const stopped = rig.node('node-2');
    const failing = errorOf(say(stopped, { conversationId, input: 'hours', idempotencyKey: 'once' }));
    await reached.opened;
    await stopped.close(10);
    expect(await failing).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('goes on by itself'),
    });
    await rig.turns.continueTurn(conversationId);
    expect(world.count).toBe(1);
    expect(await say(rig.turns, { conversationId, input: 'hours', idempotencyKey: 'once' })).toMatchObject({
      conversationState: 'READY',
    });
  });

  it.each(['before its node is found silent', 'after that'])(
    'is not gone on with when the turn was cancelled %s',
    async when => {
      const { conversationId } = await say(rig.turns, {});
      await cutOff({ conversationId, idempotencyKey: 'once' });
      if (when === 'before its node is found silent') {
        await rig.store.db.updateTable('conversations').set({ lease_until: 9e15 }).execute();
      }
      await rig.pauses.cancel({ principal: ann, decidedBy: 'ann' }, conversationId);
      await endLease(rig.store, conversationId);
      await rig.node('node-2').continueTurn(conversationId);
      const conversation = await read(conversationId);
      expect(conversation).toMatchObject({
        conversationState: 'ERROR',
        conversationOutputs: [
          { input: 'hours', taskErrors: [{ message: expect.stringContaining('cancelled') }] },
        ],
      });
      expect(outcomes).toHaveLength(1);
      expect(await leftOf()).toEqual({ checkpoints: [], effects: [] });
      const refusal = await refusalOf(rig.turns, { conversationId, input: 'hours', idempotencyKey: 'once' });
      expect(toRefusalError(refusal)).toMatchObject({ message: expect.stringContaining('cancelled') });
      expect(
        await errorOf(rig.pauses.cancel({ principal: ann, decidedBy: 'ann' }, conversationId)),
      ).toMatchObject({ kind: 'wrong_state' });
    },
  );

  it('is begun no more when the turn was cancelled and the news of it was lost', async () => {
    const { conversationId } = await say(rig.turns, {});
    rig.insideTurn = async (memory, tools) => {
      if (!isMessage(memory)) return;
      await act(tools);
      await rig.pauses.cancel({ principal: ann, decidedBy: 'ann' }, conversationId);
      await act(tools);
    };
    await expect(say(rig.turns, { conversationId, input: 'hours' })).rejects.toThrow();
    expect(world.count).toBe(1);
    expect((await read(conversationId)).conversationState).toBe('ERROR');
  });

  it('stays cancelled, whatever a turn that has not heard of it writes down next', async () => {
    const { conversationId } = await say(rig.turns, {});
    const id = await cutOff({ conversationId });
    await rig.pauses.cancel({ principal: ann, decidedBy: 'ann' }, id);
    // As a unit does that had looked before.
    await rig.store.commit(db => putCheckpoint(db, id, '{}'));
    expect(await isTurnCancelled(rig.store.db, id)).toBe(true);
  });

  it('that takes every node down with it is ended after some times, and the conversation takes the next message', async () => {
    const id = await cutOff();
    rig.insideTurn = forever;
    for (const node of ['node-2', 'node-3', 'node-4']) {
      void rig.node(node).continueTurn(id);
      await expect
        .poll(async () => (await leftOf()).checkpoints[0]?.attempts)
        .toBe(Number(node.slice('node-'.length)) - 1);
      await endLease(rig.store, id);
    }
    await rig.node('node-5').continueTurn(id);
    const conversation = await read(id);
    expect(conversation.conversationState).toBe('ERROR');
    expect(conversation.conversationOutputs?.[0]).toMatchObject({
      input: 'hours',
      taskErrors: [{ taskId: 'turn' }],
    });
    expect(await leftOf()).toEqual({ checkpoints: [], effects: [] });
    rig.insideTurn = () => undefined;
    expect(await say(rig.turns, { conversationId: id, input: 'hours' })).toMatchObject({
      conversationState: 'READY',
    });
  });

  it('is cut off within a renewal of the lease when its cancellation was written and the news of it lost', async () => {
    const clock = createManualClock();
    const turns = rig.node('node-2', { clock });
    const reached = gate();
    rig.insideTurn = async (memory, tools) => {
      if (!isMessage(memory)) return;
      await act(tools);
      reached.open();
      await forever();
    };
    const { conversationId } = await say(rig.turns, { logged: true });
    const failing = errorOf(say(turns, { conversationId, input: 'hours' }));
    await reached.opened;
    await rig.store.db.updateTable('turn_checkpoints').set({ cancelled: 1 }).execute();
    await clock.advance(5_000);
    expect(await failing).toMatchObject({ kind: 'cancelled' });
    expect((await read(conversationId)).conversationState).toBe('ERROR');
  });

  it('is not counted as tried by nodes that stop in good order', async () => {
    const id = await cutOff();
    const runs: number[] = [];
    rig.insideTurn = async () => {
      runs.push(1);
      await forever();
    };
    for (const name of ['node-2', 'node-3', 'node-4', 'node-5']) {
      const node = rig.node(name);
      const goingOn = node.continueTurn(id);
      const before = runs.length;
      await expect.poll(() => runs.length).toBe(before + 1);
      await node.close(10);
      await goingOn;
      expect((await leftOf()).checkpoints).toEqual([{ attempts: 0 }]);
    }
    rig.insideTurn = () => undefined;
    await rig.turns.continueTurn(id);
    expect((await read(id)).conversationState).toBe('READY');
  });

  it('is answered in the conversation when only the saying of the answer was cut short', async () => {
    const clock = createManualClock();
    const turns = rig.node('node-2', { clock, turnTimeoutMs: 200 });
    rig.insideTurn = async (memory, tools) => {
      if (!isMessage(memory)) return;
      await act(tools);
      memory.setProperty('paid', true, 'conversation');
    };
    const { conversationId } = await say(rig.turns, {});
    // Its answer is typed for 300 ms.
    const request = { conversationId, input: 'coffee', idempotencyKey: 'once' };
    const failing = errorOf(say(turns, request));
    // The limit of the turn, the renewal of its lease, and the typing.
    await expect.poll(() => clock.waiting).toBe(3);
    await clock.advance(200);
    expect(await failing).toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining('answer is stored'),
    });
    const conversation = await read(conversationId);
    expect(conversation).toMatchObject({
      conversationState: 'READY',
      conversationProperties: { paid: true },
    });
    expect(conversation.conversationOutputs?.[0]).not.toHaveProperty('taskErrors');
    expect(await say(turns, request)).toMatchObject({ conversationState: 'READY' });
    expect(world.count).toBe(1);
  });

  it('that failed in a step gives its failure to a repeat of the call', async () => {
    rig.insideTurn = async (memory, tools) => {
      if (!isMessage(memory)) return;
      await act(tools);
      throw new Error('broken');
    };
    const request = { input: 'hours', idempotencyKey: 'once' };
    const error = await errorOf(say(rig.turns, request));
    const refusal = await refusalOf(rig.turns, request);
    expect(toRefusalError(refusal)).toMatchObject({ kind: error.kind, message: error.message });
    expect(world.count).toBe(1);
    expect(never.aborted).toBe(false);
  });
});

describe('a turn that would write down very much again and again', () => {
  it('is stopped, and its conversation goes on', async () => {
    await using rig = await startRig('sqlite');
    let much = 'x'.repeat(40_000_000);
    const stepTypes = STEP_TYPES.map(type => ({
      type: type.type,
      compile: async (...given: Parameters<typeof type.compile>) => {
        const real = await type.compile(...given);
        return {
          ...real,
          acts: true,
          run: (memory: TurnMemory, tools: StepTools) => {
            memory.calls.much = much;
            return real.run(memory, tools);
          },
        };
      },
    }));
    const { turns } = startAgain(rig, { stepTypes });
    const { conversationId } = await say(rig.turns, {});
    expect(await errorOf(say(turns, { conversationId, input: 'hours' }))).toMatchObject({
      message: expect.stringContaining('steps of work'),
    });
    much = 'x';
    expect(await say(turns, { conversationId, input: 'hours' })).toMatchObject({
      conversationState: 'READY',
    });
  });
});

describe.runIf(engines.includes('postgres'))(
  'turns that begin to act while their agent is undeployed',
  () => {
    it('go on, also when they begin between the look at them and the end of their conversations', async () => {
      await using rig = await startRig('postgres');
      const { conversationId } = await say(rig.turns, {});
      await claim(rig.turns, { conversationId, input: 'hours' });
      const { agent_version: agentVersion, lease_fence: fence } = await rig.store.db
        .selectFrom('conversations')
        .select(['agent_version', 'lease_fence'])
        .executeTakeFirstOrThrow();
      const began = gate();
      const go = gate();
      const acting = rig.store.commit(async db => {
        expect(await beginToAct(db, { conversationId, fence }, '{}')).toBe(true);
        began.open();
        await go.opened;
      });
      await began.opened;
      const which = {
        environment: 'production',
        agentId: 'hello',
        agentVersion,
        since: agentVersion,
      } as const;
      const ending = rig.store.commit(db => endActiveConversations(db, which, 1));
      // It waits for the turn that is beginning to act.
      await expect
        .poll(async () => {
          const { rows } = await sql<{ waiting: number }>`
          select count(*) as waiting from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(rig.store.db);
          return Number(rows[0]!.waiting);
        })
        .toBe(1);
      go.open();
      await acting;
      await ending;
      const found = await rig.store.db
        .selectFrom('conversations')
        .select(['state', 'lease_fence'])
        .executeTakeFirstOrThrow();
      expect(found).toEqual({ state: 'IN_PROGRESS', lease_fence: fence });
    });
  },
);
