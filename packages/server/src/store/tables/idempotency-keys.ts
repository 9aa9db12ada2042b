import { sql } from 'kysely';
import type { Db, Engine } from '../store.ts';

/** A caller's key for one call: principal and agent are part of it, so nobody meets anybody else's. */
export interface KeyOfCall {
  readonly principalId: string;
  readonly agentId: string;
  readonly key: string;
}

/** What a key says about a call that presents it. */
export type KeyClaim =
  /** This call runs. `token` proves it is still the one that holds the key. */
  | { readonly kind: 'claimed'; readonly token: number }
  | { readonly kind: 'in-flight' }
  | { readonly kind: 'other-arguments' }
  | { readonly kind: 'answered'; readonly answer: unknown };

/**
 * Claims the key, unless another call holds it or has answered. A key whose holder fell silent, or that is past its
 * time, is free.
 */
export async function claimIdempotencyKey(
  db: Db,
  engine: Engine,
  call: KeyOfCall & { readonly digest: string; readonly leaseMs: number; readonly lifeMs: number },
): Promise<KeyClaim> {
  const now = engine.now();
  const claimed = await db
    .insertInto('idempotency_keys')
    .values({
      principal_id: call.principalId,
      agent_id: call.agentId,
      key: call.key,
      digest: call.digest,
      answer: null,
      lease_until: sql<number>`${now} + ${sql.lit(call.leaseMs)}`,
      expires_at: sql<number>`${now} + ${sql.lit(call.lifeMs)}`,
    })
    .onConflict(conflict =>
      conflict
        .columns(['principal_id', 'agent_id', 'key'])
        .doUpdateSet(eb => ({
          digest: eb.ref('excluded.digest'),
          answer: null,
          lease_until: eb.ref('excluded.lease_until'),
          expires_at: eb.ref('excluded.expires_at'),
        }))
        .where(eb =>
          eb.or([
            eb('idempotency_keys.expires_at', '<=', now),
            eb.and([
              eb('idempotency_keys.answer', 'is', null),
              eb('idempotency_keys.lease_until', '<=', now),
            ]),
          ]),
        ),
    )
    .returning('lease_until')
    .executeTakeFirst();
  if (claimed) return { kind: 'claimed', token: claimed.lease_until! };
  const held = await db
    .selectFrom('idempotency_keys')
    .select(['digest', 'answer'])
    .where('principal_id', '=', call.principalId)
    .where('agent_id', '=', call.agentId)
    .where('key', '=', call.key)
    .executeTakeFirst();
  // Freed between the two statements: its call has just failed, and this one is told to try again.
  if (!held) return { kind: 'in-flight' };
  if (held.digest !== call.digest) return { kind: 'other-arguments' };
  if (held.answer === null) return { kind: 'in-flight' };
  return { kind: 'answered', answer: JSON.parse(held.answer) };
}

/** The new token, or `undefined` when another call has the key now. */
export async function renewIdempotencyKey(
  db: Db,
  engine: Engine,
  call: HeldKey & { readonly leaseMs: number },
): Promise<number | undefined> {
  const renewed = await db
    .updateTable('idempotency_keys')
    .set({ lease_until: sql<number>`${engine.now()} + ${sql.lit(call.leaseMs)}` })
    .where(eb => eb.and(held(call)))
    .returning('lease_until')
    .executeTakeFirst();
  return renewed?.lease_until ?? undefined;
}

/** Keeps the answer for repeats of the call. False when another call has the key now: then nothing may be committed. */
export async function answerIdempotencyKey(
  db: Db,
  call: HeldKey & { readonly answer: unknown },
): Promise<boolean> {
  const answered = await db
    .updateTable('idempotency_keys')
    .set({ answer: JSON.stringify(call.answer), lease_until: null })
    .where(eb => eb.and(held(call)))
    .returning('key')
    .executeTakeFirst();
  return answered !== undefined;
}

/** The call failed before any effect: its key may be used again at once. */
export async function freeIdempotencyKey(db: Db, call: HeldKey): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where(eb => eb.and(held(call)))
    .execute();
}

export async function deleteExpiredIdempotencyKeys(db: Db, engine: Engine): Promise<void> {
  await db.deleteFrom('idempotency_keys').where('expires_at', '<=', engine.now()).execute();
}

/** A key with the proof that this call holds it. */
export interface HeldKey extends KeyOfCall {
  /** The end of the lease as last written: every claim and renewal moves it on, an answer clears it. */
  readonly token: number;
}

function held(call: HeldKey) {
  return {
    principal_id: call.principalId,
    agent_id: call.agentId,
    key: call.key,
    lease_until: call.token,
  };
}
