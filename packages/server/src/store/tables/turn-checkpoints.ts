import type { Environment } from '@patchbay/contract/environments';
import type { ConversationState } from '@patchbay/contract/operations/conversation';
import { sql } from 'kysely';
import { NOW } from '../now.ts';
import { prepareQuery } from '../prepared-query.ts';
import type { Db } from '../store.ts';
import { type ConversationLease, stillHeldUnder } from './conversations.ts';

/** A turn that was cut off or has waited, claimed to go on. */
export interface ClaimedCheckpoint {
  readonly lease: ConversationLease;
  readonly agentId: string;
  readonly agentVersion: number;
  readonly environment: Environment;
  readonly userId: string;
  readonly undoneSteps: number;
  /** Where the chain of its audit entries ends. */
  readonly auditHead: string | undefined;
  /** JSON, as it was put there. */
  readonly checkpoint: string;
  /** 1 for the first time it is taken up. */
  readonly attempt: number;
  /** It is not to go on, but to end. */
  readonly cancelled: boolean;
}

/**
 * The turn is about to act. From now on its conversation is IN_PROGRESS until somebody has ended the turn, and goes on from
 * `checkpoint` after a crash; without one from where the last one said. False when the lease is lost or the turn was cancelled: then
 * it must not act.
 */
export async function beginToAct(
  db: Db,
  lease: ConversationLease,
  checkpoint: string | undefined,
): Promise<boolean> {
  const [held] = await updateActing(db, lease);
  if (held && checkpoint !== undefined) await putCheckpoint(db, lease.conversationId, checkpoint);
  return held !== undefined;
}

const updateActing = prepareQuery((db, lease: ConversationLease) =>
  db
    .updateTable('conversations')
    .set({ state: 'IN_PROGRESS' satisfies ConversationState })
    .where(eb => stillHeldUnder(eb, lease))
    .where(eb =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('turn_checkpoints')
            .select('conversation_id')
            .whereRef('turn_checkpoints.conversation_id', '=', 'conversations.id')
            .where('cancelled', '=', 1),
        ),
      ),
    )
    .returning('id'),
);

/** Where a turn goes on that waits. The unit has made sure of the lease. */
export async function putCheckpoint(db: Db, conversationId: string, checkpoint: string): Promise<void> {
  await upsertCheckpoint(db, { conversationId, checkpoint });
}

const upsertCheckpoint = prepareQuery((db, put: { conversationId: string; checkpoint: string }) =>
  db
    .insertInto('turn_checkpoints')
    .values({
      conversation_id: put.conversationId,
      checkpoint: put.checkpoint,
      attempts: 0,
      cancelled: 0,
      created_at: NOW,
    })
    .onConflict(conflict =>
      // Cancelled it stays: that may have been written since the unit has looked.
      conflict.column('conversation_id').doUpdateSet({ checkpoint: put.checkpoint, attempts: 0 }),
    ),
);

/**
 * A turn that has acted or was decided about is to do nothing more, whoever has it or takes it up. False when there is none, or
 * none of it is known yet.
 */
export async function cancelCheckpoint(db: Db, conversationId: string): Promise<boolean> {
  const row = await db
    .updateTable('turn_checkpoints')
    .set({ cancelled: 1 })
    .where('conversation_id', '=', conversationId)
    .where(eb =>
      eb.exists(
        eb
          .selectFrom('conversations')
          .select('id')
          .where('id', '=', conversationId)
          .where('state', '=', 'IN_PROGRESS' satisfies ConversationState),
      ),
    )
    .returning('conversation_id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Conversations whose turn was cut off: in progress, and nobody holds them. Those waiting longest first. */
export async function listCutOffTurns(db: Db, limit: number): Promise<ConversationLease[]> {
  const rows = await db
    .selectFrom('turn_checkpoints')
    .innerJoin('conversations', 'conversations.id', 'turn_checkpoints.conversation_id')
    .select(['conversations.id', 'conversations.lease_fence'])
    .where('conversations.state', '=', 'IN_PROGRESS' satisfies ConversationState)
    .where(eb =>
      eb.or([eb('conversations.lease_until', 'is', null), eb('conversations.lease_until', '<=', NOW)]),
    )
    .orderBy('turn_checkpoints.created_at')
    .limit(limit)
    .execute();
  return rows.map(row => ({ conversationId: row.id, fence: row.lease_fence }));
}

/** Takes up a turn that was cut off. `undefined` when there is none, or another node has it. */
export async function claimCheckpoint(
  db: Db,
  claim: { readonly conversationId: string; readonly holder: string; readonly leaseMs: number },
): Promise<ClaimedCheckpoint | undefined> {
  const row = await db
    .updateTable('conversations')
    .set(eb => ({
      lease_holder: claim.holder,
      lease_until: sql<number>`${NOW} + ${sql.lit(claim.leaseMs)}`,
      lease_fence: eb('lease_fence', '+', 1),
    }))
    .where('id', '=', claim.conversationId)
    .where('state', '=', 'IN_PROGRESS' satisfies ConversationState)
    .where(eb => eb.or([eb('lease_until', 'is', null), eb('lease_until', '<=', NOW)]))
    .where(eb =>
      eb.exists(
        eb
          .selectFrom('turn_checkpoints')
          .select('conversation_id')
          .whereRef('turn_checkpoints.conversation_id', '=', 'conversations.id'),
      ),
    )
    .returning([
      'lease_fence',
      'agent_id',
      'agent_version',
      'environment',
      'user_id',
      'undone_steps',
      'audit_head',
    ])
    .executeTakeFirst();
  if (!row) return undefined;
  const { checkpoint, attempts, cancelled } = await db
    .updateTable('turn_checkpoints')
    .set(eb => ({ attempts: eb('attempts', '+', 1) }))
    .where('conversation_id', '=', claim.conversationId)
    .returning(['checkpoint', 'attempts', 'cancelled'])
    .executeTakeFirstOrThrow();
  return {
    lease: { conversationId: claim.conversationId, fence: row.lease_fence },
    agentId: row.agent_id,
    agentVersion: row.agent_version,
    environment: row.environment as Environment,
    userId: row.user_id,
    undoneSteps: row.undone_steps,
    auditHead: row.audit_head ?? undefined,
    checkpoint,
    attempt: attempts,
    cancelled: cancelled === 1,
  };
}

/** Was the turn that acts in the conversation cancelled? */
export async function isTurnCancelled(db: Db, conversationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('turn_checkpoints')
    .select('cancelled')
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst();
  return row?.cancelled === 1;
}

/** Whoever had taken the turn up gives it back unharmed: that counts as no try. */
export async function uncountTakeUp(db: Db, conversationId: string): Promise<void> {
  await db
    .updateTable('turn_checkpoints')
    .set(eb => ({ attempts: eb('attempts', '-', 1) }))
    .where('conversation_id', '=', conversationId)
    .where('attempts', '>', 0)
    .execute();
}

/** The turn has ended: what it would have needed to go on, and its journal, are gone. */
export async function deleteCheckpoint(db: Db, conversationId: string): Promise<void> {
  await deleteCheckpointOf(db, { conversationId });
  await deleteEffectsOf(db, { conversationId });
}

const deleteCheckpointOf = prepareQuery((db, of: { conversationId: string }) =>
  db.deleteFrom('turn_checkpoints').where('conversation_id', '=', of.conversationId),
);

const deleteEffectsOf = prepareQuery((db, of: { conversationId: string }) =>
  db.deleteFrom('effects').where('conversation_id', '=', of.conversationId),
);
