import { type EngineName, engines } from '@patchbay/testing/stores';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toRefusalError } from '../../packages/server/src/agents/turn/refusal.ts';
import { Fault } from '../../packages/server/src/kernel/errors.ts';
import { createManualClock } from '../manual-clock.ts';
import {
  ann,
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

describe.each(engines)('idempotency keys on %s', (engine: EngineName) => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await startRig(engine);
  });
  afterEach(() => rig[Symbol.asyncDispose]());

  const request = { input: 'hours', idempotencyKey: 'key-1' };

  /** What a test sees when the time of every key is over. */
  async function expireKeys(): Promise<void> {
    await rig.store.db.updateTable('idempotency_keys').set({ expires_at: 1 }).execute();
  }

  it('give a repeat the first answer again, and the agent runs once (B-66, B-84)', async () => {
    let runs = 0;
    rig.insideTurn = () => {
      runs += 1;
    };
    const first = await say(rig.turns, request);
    const counted = await countRows(rig.store);
    const again = await say(rig.node('node-2'), request);
    expect(again).toEqual(first);
    // The greeting and the message.
    expect(runs).toBe(2);
    expect(await countRows(rig.store)).toEqual(counted);
  });

  it('are honoured in a conversation that goes on, also after it has ended', async () => {
    const { conversationId } = await say(rig.turns, {});
    const last = { conversationId, input: 'bye', idempotencyKey: 'key-1' };
    const first = await say(rig.turns, last);
    expect(first.conversationState).toBe('ENDED');
    expect(await say(rig.turns, last)).toEqual(first);
  });

  it('refuse a repeat while the first call is in flight, on every node (B-83)', async () => {
    const first = await claim(rig.turns, request);
    const refusal = await refusalOf(rig.node('node-2'), request);
    expect(refusal).toEqual({ reason: 'key_in_flight' });
    expect(toRefusalError(refusal).row).toMatchObject({ httpStatus: 409, agentCode: 'conflict' });
    const answer = await first.run({ signal: never });
    expect(await say(rig.turns, request)).toEqual(answer);
  });

  it('let one of many simultaneous calls run', async () => {
    await oneOfManyRuns();
    expect(await countRows(rig.store)).toMatchObject({ conversations: 1 });
  });

  async function oneOfManyRuns(): Promise<void> {
    const admissions = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        rig
          .node(`node-${index % 2}`)
          .admitTurn({ principal: ann, access: 'own', agentId: 'hello', ...request }),
      ),
    );
    const claimed = admissions.filter(({ kind }) => kind === 'claimed');
    expect(claimed).toHaveLength(1);
    for (const admission of admissions) {
      if (admission.kind !== 'claimed') {
        expect(admission).toEqual({ kind: 'refused', refusal: { reason: 'key_in_flight' } });
      }
    }
  }

  it('refuse other arguments, whether the first call runs or is answered', async () => {
    const first = await claim(rig.turns, request);
    const other = { ...request, input: 'coffee' };
    expect(await refusalOf(rig.turns, other)).toEqual({ reason: 'key_other_arguments' });
    await first.run({ signal: never });
    expect(await refusalOf(rig.turns, other)).toEqual({ reason: 'key_other_arguments' });
    expect(await refusalOf(rig.turns, { ...request, context: { mcp: 'true' } })).toEqual({
      reason: 'key_other_arguments',
    });
  });

  it('of one principal mean nothing to another, nor to another agent', async () => {
    await rig.agentFiles.deploy(ann, await helloFile({ agent: 'other' }));
    const first = await say(rig.turns, request);
    const second = await say(rig.turns, { ...request, principal: helloKey });
    const third = await say(rig.turns, { ...request, agentId: 'other' });
    expect(new Set([first, second, third].map(({ conversationId }) => conversationId)).size).toBe(3);
  });

  it('are free again when the turn was refused, cancelled, late or failed before any effect', async () => {
    const { conversationId } = await say(rig.turns, {});
    const keyed = { ...request, conversationId };

    const busy = await claim(rig.turns, { conversationId, input: 'hours' });
    expect(await refusalOf(rig.turns, keyed)).toMatchObject({ reason: 'busy' });
    await busy.release();
    expect(await countRows(rig.store)).toMatchObject({ idempotency_keys: 0 });

    const cancelled = say(rig.turns, keyed, { signal: AbortSignal.abort() });
    expect((await errorOf(cancelled)).kind).toBe('cancelled');
    expect(await countRows(rig.store)).toMatchObject({ idempotency_keys: 0 });

    rig.insideTurn = () => gate().opened;
    expect((await errorOf(say(rig.node('node-1', { turnTimeoutMs: 20 }), keyed))).kind).toBe('timeout');
    expect(await countRows(rig.store)).toMatchObject({ idempotency_keys: 0 });

    rig.insideTurn = () => {
      throw new Error('broken');
    };
    expect((await errorOf(say(rig.turns, keyed))).kind).toBe('internal');
    expect(await countRows(rig.store)).toMatchObject({ idempotency_keys: 0 });

    rig.insideTurn = () => undefined;
    expect((await say(rig.turns, keyed)).agentResponse).toMatch(/^We are open/);
  });

  it('are free at once when the node that died in the turn has started again', async () => {
    const lost = await claim(rig.turns, request);
    expect(await refusalOf(rig.node('node-2'), request)).toEqual({ reason: 'key_in_flight' });
    const restarted = rig.node('node-1');
    await restarted.releaseLeasesOf('node-1');
    const answer = await say(restarted, request);
    await expect(lost.run({ signal: never })).rejects.toBeInstanceOf(Fault);
    expect(await say(restarted, request)).toEqual(answer);
    expect(await countRows(rig.store)).toMatchObject({ conversations: 1, conversation_steps: 2 });
  });

  it('are free with the conversation they were used in', async () => {
    const { conversationId } = await say(rig.turns, {});
    const keyed = { ...request, conversationId };
    const lost = await claim(rig.turns, keyed);
    await endLease(rig.store, conversationId);
    const answer = await say(rig.node('node-2'), keyed);
    await expect(lost.run({ signal: never })).rejects.toBeInstanceOf(Fault);
    expect(await say(rig.turns, keyed)).toEqual(answer);
    expect(await countRows(rig.store)).toMatchObject({ conversation_steps: 2, idempotency_keys: 1 });
  });

  it('are taken over from a call that fell silent, which then cannot commit a second run', async () => {
    const silent = await claim(rig.turns, request);
    await endLease(rig.store, silent.conversationId);
    const answer = await say(rig.node('node-2'), request);
    await expect(silent.run({ signal: never })).rejects.toBeInstanceOf(Fault);
    expect(await say(rig.turns, request)).toEqual(answer);
    expect(await countRows(rig.store)).toMatchObject({ conversations: 1, conversation_steps: 2 });
  });

  it('are taken over by one of many that wait for a silent call', async () => {
    const silent = await claim(rig.turns, request);
    await endLease(rig.store, silent.conversationId);
    await oneOfManyRuns();
    expect(await countRows(rig.store)).toMatchObject({ conversations: 1 });
  });

  describe('of a long turn', () => {
    async function longTurn() {
      const clock = createManualClock();
      const started = gate();
      const held = gate();
      const turn = await claim(rig.node('node-2', { clock }), request);
      rig.insideTurn = () => {
        started.open();
        return held.opened;
      };
      const running = turn.run({ signal: never });
      await started.opened;
      rig.insideTurn = () => undefined;
      await endLease(rig.store, turn.conversationId);
      return { open: held.open, running, renew: () => clock.advance(5_000) };
    }

    async function leaseEnds(): Promise<number> {
      const row = await rig.store.db
        .selectFrom('conversations')
        .select('lease_until')
        .executeTakeFirstOrThrow();
      return row.lease_until!;
    }

    it('stay in flight as long as it holds its conversation', async () => {
      const { running, renew, open } = await longTurn();
      await renew();
      await expect.poll(leaseEnds).toBeGreaterThan(Date.now());
      expect(await refusalOf(rig.turns, request)).toEqual({ reason: 'key_in_flight' });
      open();
      const answer = await running;
      expect(await say(rig.turns, request)).toEqual(answer);
    });

    it('end it when they are taken over: the conversation goes with the key', async () => {
      const { running, renew, open } = await longTurn();
      const answer = await say(rig.turns, request);
      const lost = expect(running).rejects.toMatchObject({ code: 'lease_lost' });
      await renew();
      await lost;
      open();
      expect(await say(rig.turns, request)).toEqual(answer);
      expect(await countRows(rig.store)).toMatchObject({ conversations: 1, conversation_steps: 2 });
    });
  });

  it('are forgotten after their time', async () => {
    const first = await say(rig.turns, request);
    await expireKeys();
    const second = await say(rig.turns, { ...request, input: 'hello' });
    expect(second.conversationId).not.toBe(first.conversationId);
    await rig.turns.removeLeftovers();
    expect(await countRows(rig.store)).toMatchObject({ idempotency_keys: 1 });
    await expireKeys();
    await rig.turns.removeLeftovers();
    expect(await countRows(rig.store)).toMatchObject({ idempotency_keys: 0 });
  });

  it('are kept for the hours that are configured', async () => {
    await say(rig.node('node-1', { idempotencyHours: 2 }), request);
    const { expires_at } = await rig.store.db
      .selectFrom('idempotency_keys')
      .select('expires_at')
      .executeTakeFirstOrThrow();
    expect(Math.abs(expires_at - Date.now() - 2 * 3_600_000)).toBeLessThan(60_000);
  });

  it.each([
    ['empty', ''],
    ['too long', 'k'.repeat(256)],
    ['with U+0000', 'a\0'],
  ])('are refused when they are %s', async (_, idempotencyKey) => {
    const error = await errorOf(
      rig.turns.admitTurn({ principal: ann, access: 'own', agentId: 'hello', input: 'x', idempotencyKey }),
    );
    expect(error).toMatchObject({ kind: 'invalid' });
    expect(error.message).toMatch(/^idempotency_key: /);
  });
});
