import { engines } from '@patchbay/testing/stores';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { retireConversations } from '../../packages/server/src/agents/conversation/retention.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import type { Db } from '../../packages/server/src/store/store.ts';
import {
  deleteEndedConversations,
  endIdleConversations,
} from '../../packages/server/src/store/tables/conversations.ts';
import { ann, claim, countRows, errorOf, gate, never, say, startRig } from './setup.ts';

const DAY_MS = 86_400_000;

describe.each(engines)('old conversations on %s', engine => {
  it('are ended when idle and deleted when over, but for those at work or waiting', async () => {
    await using rig = await startRig(engine);
    const later = (days: number) => ({ ...systemClock, now: () => Date.now() + days * DAY_MS });
    const retire = (days: number, settings: object = {}) =>
      retireConversations(
        { store: rig.store, clock: later(days), idleDays: 90, keepEndedDays: 365, ...settings },
        never,
      );
    const idle = await say(rig.turns, {});
    const waiting = await say(rig.turns, {});
    await rig.store.db
      .updateTable('conversations')
      .set({ state: 'AWAITING_HUMAN' })
      .where('id', '=', waiting.conversationId)
      .execute();
    const busy = await say(rig.turns, {});
    const turn = await claim(rig.turns, { conversationId: busy.conversationId, input: 'hours' });
    const stateOf = async (conversationId: string) =>
      (await rig.conversations.read(ann, { conversationId, currentStepOnly: true, returnDetailed: false }))
        .conversationState;

    await retire(89);
    expect(await stateOf(idle.conversationId)).toBe('READY');
    await retire(91, { idleDays: 0 });
    expect(await stateOf(idle.conversationId)).toBe('READY');
    await retire(91);
    expect(await stateOf(idle.conversationId)).toBe('ENDED');
    expect(await stateOf(waiting.conversationId)).toBe('AWAITING_HUMAN');
    expect(await stateOf(busy.conversationId)).toBe('IN_PROGRESS');

    await retire(364);
    await retire(366, { keepEndedDays: 0 });
    expect(await stateOf(idle.conversationId)).toBe('ENDED');
    await retire(366);
    expect(await errorOf(stateOf(idle.conversationId))).toMatchObject({ kind: 'not_found' });
    expect(await countRows(rig.store)).toMatchObject({ conversations: 2, conversation_steps: 2 });
    // What was done in it stays known, and where that ends.
    expect(await rig.auditBreaks(idle.conversationId)).toEqual([]);
    await rig.store.db
      .deleteFrom('audit_records')
      .where('conversation_id', '=', idle.conversationId)
      .where('seq', '=', 1)
      .execute();
    expect(await rig.auditBreaks(idle.conversationId)).toMatchObject([{ reason: 'cut_off' }]);
    await turn.release();
  });

  it('are retired however many there are', async () => {
    await using rig = await startRig(engine);
    const { conversationId } = await say(rig.turns, {});
    const row = await rig.store.db
      .selectFrom('conversations')
      .selectAll()
      .where('id', '=', conversationId)
      .executeTakeFirstOrThrow();
    for (let part = 0; part < 5; part += 1) {
      const copies = Array.from({ length: 500 }, (_, i) => ({ ...row, id: `c${part}_${i}`, updated_at: 1 }));
      await rig.store.commit(
        async db => void (await db.insertInto('conversations').values(copies).execute()),
      );
    }
    await retireConversations({ store: rig.store, clock: systemClock, idleDays: 1, keepEndedDays: 1 }, never);
    expect(await countRows(rig.store)).toMatchObject({ conversations: 1 });
  });
});

describe.runIf(engines.includes('postgres'))('a conversation that goes on while it is being retired', () => {
  it.each([
    ['deleted', 'ENDED', 'READY', deleteEndedConversations],
    ['ended', 'READY', 'IN_PROGRESS', endIdleConversations],
  ] as const)('is not %s', async (_, before, after, retire) => {
    await using rig = await startRig('postgres');
    await say(rig.turns, {});
    const set = (db: Db, state: string) =>
      db.updateTable('conversations').set({ state, updated_at: 1 }).execute();
    await rig.store.commit(db => set(db, before));
    const changed = gate();
    const go = gate();
    const going = rig.store.commit(async db => {
      await set(db, after);
      changed.open();
      await go.opened;
    });
    await changed.opened;
    const retiring = rig.store.commit(db => retire(db, Date.now()));
    await expect
      .poll(async () => {
        const { rows } = await sql<{ waiting: number }>`
          select count(*) as waiting from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(rig.store.db);
        return Number(rows[0]!.waiting);
      })
      .toBe(1);
    go.open();
    await Promise.all([going, retiring]);
    const rows = await rig.store.db.selectFrom('conversations').select('state').execute();
    expect(rows).toEqual([{ state: after }]);
  });
});
