import { engines, openTestStore } from '@patchbay/testing/stores';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import {
  firstLease,
  insertClaimedConversation,
  releaseConversation,
  renewConversationLease,
} from '../../packages/server/src/store/tables/conversations.ts';
import {
  answerIdempotencyKey,
  claimIdempotencyKey,
  deleteExpiredIdempotencyKeys,
  freeIdempotencyKey,
} from '../../packages/server/src/store/tables/idempotency-keys.ts';

describe.each(engines)('the lease of a conversation on %s', engine => {
  it('is not taken again by a renewal that comes after it was given back', async () => {
    await using store = await openTestStore(engine);
    const lease = firstLease('c');
    await store.commit(db =>
      insertClaimedConversation(db, {
        ...{ lease, agentId: 'a', agentVersion: 1, environment: 'production', userId: 'u' },
        ...{ holder: 'node', leaseMs: 60_000, at: 0 },
      }),
    );
    // Else giving it back leaves no trace at all.
    await store.db.updateTable('conversations').set({ step_count: 1 }).execute();
    expect(await store.commit(db => renewConversationLease(db, lease, 60_000))).toBe(true);
    await store.commit(db => releaseConversation(db, lease));
    expect(await store.commit(db => renewConversationLease(db, lease, 60_000))).toBe(false);
    expect(await store.db.selectFrom('conversations').select('lease_until').execute()).toEqual([
      { lease_until: null },
    ]);
  });
});

describe.each(engines)('an idempotency key on %s', engine => {
  it('is freed while its call has no answer, and kept when only the word of the answer was lost', async () => {
    await using store = await openTestStore(engine);
    const call = { principalId: 'p', agentId: 'a', key: 'k' };
    const lease = firstLease('c');
    const claim = () =>
      store.commit(db => claimIdempotencyKey(db, { ...call, lease, digest: 'd', lifeMs: 60_000 }));
    expect(await claim()).toEqual({ kind: 'claimed' });
    await store.commit(db => freeIdempotencyKey(db, call, lease));
    expect(await claim()).toEqual({ kind: 'claimed' });
    await store.commit(db => answerIdempotencyKey(db, call, lease, 'hello'));
    await store.commit(db => freeIdempotencyKey(db, call, lease));
    expect(await claim()).toEqual({ kind: 'answered', answer: 'hello' });
  });
});

describe.each(engines)('expired idempotency keys on %s', engine => {
  it('are all deleted, however many there are, and no others', async () => {
    await using store = await openTestStore(engine);
    const many = (count: number, name: string, expiresAt: number) =>
      sql`insert into idempotency_keys
          (principal_id, agent_id, key, digest, conversation_id, fence, answer, expires_at)
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
        select 'p', 'a', ${name} || cast(n as text), 'd', 'c', 1, null, ${expiresAt} from numbers`;
    await store.commit(async db => {
      await many(20_001, 'old', 1).execute(db);
      await many(2, 'new', Number.MAX_SAFE_INTEGER).execute(db);
    });
    await store.commit(deleteExpiredIdempotencyKeys);
    expect(await store.db.selectFrom('idempotency_keys').select('key').orderBy('key').execute()).toEqual([
      { key: 'new1' },
      { key: 'new2' },
    ]);
  });
});
