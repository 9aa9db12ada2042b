import { type ExpressionBuilder, sql } from 'kysely';
import { NOW } from '../now.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';
import { breakEndedLease, type ConversationLease } from './conversations.ts';

/** A caller's key for one call: principal and agent are part of it, so nobody meets anybody else's. */
export interface KeyOfCall {
  readonly principalId: string;
  readonly agentId: string;
  readonly key: string;
}

/** What a key says about a call that presents it. */
export type KeyClaim =
  /** This call runs. */
  | { readonly kind: 'claimed' }
  | { readonly kind: 'in-flight' }
  | { readonly kind: 'other-arguments' }
  | { readonly kind: 'answered'; readonly answer: unknown };

/**
 * Claims the key for the call that is about to hold `lease`, unless another call holds it or has answered. The key has no
 * lease of its own: it is in flight while its call holds the conversation, and free when that call fell silent. A call
 * whose key is taken in this way has lost its conversation too.
 */
export async function claimIdempotencyKey(
  db: Db,
  call: KeyOfCall & { readonly digest: string; readonly lease: ConversationLease; readonly lifeMs: number },
): Promise<KeyClaim> {
  const claim = {
    digest: call.digest,
    conversation_id: call.lease.conversationId,
    fence: call.lease.fence,
    answer: null,
    expires_at: sql<number>`${NOW} + ${sql.lit(call.lifeMs)}`,
  };
  const inserted = await db
    .insertInto('idempotency_keys')
    .values({ ...columnsOf(call), ...claim })
    .onConflict(conflict => conflict.doNothing())
    .returning('key')
    .executeTakeFirst();
  if (inserted) return { kind: 'claimed' };

  // A statement of its own: on PostgreSQL it sees the conversation of a call that committed while the insert waited for it.
  const held = await db
    .selectFrom('idempotency_keys')
    .select(['digest', 'conversation_id', 'fence', 'answer'])
    .select(eb => [eb('expires_at', '<=', NOW).as('expired'), eb.exists(liveLease(eb)).as('leased')])
    .where(eb => eb.and(columnsOf(call)))
    .executeTakeFirst();
  // Freed between the two statements: its call has just failed, and this one is told to try again.
  if (!held) return { kind: 'in-flight' };
  const free = held.answer === null ? !held.leased : Boolean(held.expired);
  if (!free) {
    if (held.digest !== call.digest) return { kind: 'other-arguments' };
    if (held.answer === null) return { kind: 'in-flight' };
    return { kind: 'answered', answer: JSON.parse(held.answer) };
  }
  const lease = { conversationId: held.conversation_id, fence: held.fence };
  // The claim of the conversation itself ends the lease of whoever held it before.
  if (lease.conversationId !== call.lease.conversationId) await breakEndedLease(db, lease);
  const taken = await db
    .updateTable('idempotency_keys')
    .set(claim)
    .where(eb => eb.and({ ...columnsOf(call), ...leaseColumns(lease) }))
    // The silent call may have come back since it was read: renewed its lease, or answered.
    .where(eb =>
      held.answer === null
        ? eb.and([eb('answer', 'is', null), eb.not(eb.exists(liveLease(eb)))])
        : eb('answer', 'is not', null),
    )
    .returning('key')
    .executeTakeFirst();
  return { kind: taken ? 'claimed' : 'in-flight' };
}

/** Keeps the answer for repeats of the call. False when another call has the key now: then nothing may be committed. */
export async function answerIdempotencyKey(
  db: Db,
  call: KeyOfCall,
  lease: ConversationLease,
  answer: unknown,
): Promise<boolean> {
  const answered = await db
    .updateTable('idempotency_keys')
    .set({ answer: JSON.stringify(answer) })
    .where(eb => eb.and({ ...columnsOf(call), ...leaseColumns(lease) }))
    .returning('key')
    .executeTakeFirst();
  return answered !== undefined;
}

/**
 * The key of a call whose turn was cut off follows it to the lease under which it goes on. False when there is none any more: its
 * time was over before somebody took the turn up, and the turn goes on without it.
 */
export async function moveIdempotencyKey(
  db: Db,
  call: KeyOfCall,
  lease: ConversationLease,
): Promise<boolean> {
  const moved = await db
    .updateTable('idempotency_keys')
    .set({ fence: lease.fence })
    .where(eb => eb.and({ ...columnsOf(call), conversation_id: lease.conversationId }))
    .where('answer', 'is', null)
    .returning('key')
    .executeTakeFirst();
  return moved !== undefined;
}

/**
 * The call failed before any effect: its key may be used again at once. One that has its answer stays: the call was stored, and
 * only the word of it was lost.
 */
export async function freeIdempotencyKey(db: Db, call: KeyOfCall, lease: ConversationLease): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where(eb => eb.and({ ...columnsOf(call), ...leaseColumns(lease) }))
    .where('answer', 'is', null)
    .execute();
}

/** Each statement has to end in time, also when the keys of a busy day expired while nobody looked. */
const DELETE_AT_ONCE = 10_000;

export async function deleteExpiredIdempotencyKeys(db: Db): Promise<void> {
  let deleted: number;
  do {
    const result = await db
      .deleteFrom('idempotency_keys')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('principal_id', 'agent_id', 'key'),
          'in',
          selectFrom('idempotency_keys as old')
            .select(['old.principal_id', 'old.agent_id', 'old.key'])
            .where('old.expires_at', '<=', NOW)
            .limit(DELETE_AT_ONCE)
            .$asTuple('principal_id', 'agent_id', 'key'),
        ),
      )
      .executeTakeFirst();
    deleted = Number(result.numDeletedRows);
  } while (deleted === DELETE_AT_ONCE);
}

function columnsOf({ principalId, agentId, key }: KeyOfCall) {
  return { principal_id: principalId, agent_id: agentId, key };
}

function leaseColumns({ conversationId, fence }: ConversationLease) {
  return { conversation_id: conversationId, fence };
}

/**
 * The conversation of the key, while the call that claimed the key holds it; or while a turn that was cut off has to go on:
 * it may be this call's, and must not run twice.
 */
function liveLease(eb: ExpressionBuilder<Schema, 'idempotency_keys'>) {
  return eb
    .selectFrom('conversations')
    .select('conversations.id')
    .whereRef('conversations.id', '=', 'idempotency_keys.conversation_id')
    .where(of =>
      of.or([
        of.and([
          of('conversations.lease_fence', '=', of.ref('idempotency_keys.fence')),
          of('conversations.lease_until', '>', NOW),
        ]),
        of('conversations.state', '=', 'IN_PROGRESS'),
      ]),
    );
}
