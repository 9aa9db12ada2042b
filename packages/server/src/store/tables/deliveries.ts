import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';

/** `waiting`: its turn waits for a person. */
export const OPEN_STATES = ['queued', 'running', 'waiting'] as const;
export type EndState = 'completed' | 'failed' | 'cancelled' | 'timeout' | 'rejected';
export type DeliveryState = (typeof OPEN_STATES)[number] | EndState;

/** What came of it: the reply, or why there is none, or what it waits for. */
export type DeliveryResult =
  | { readonly text: string }
  | { readonly error: { readonly code: string; readonly message: string } }
  | { readonly waitsFor: string };

/** A message for an agent that is worked on in the background. Times are epoch ms. */
export interface Delivery {
  readonly id: string;
  readonly kind: 'task' | 'message';
  readonly logId: string;
  readonly agentId: string;
  readonly ownerId: string;
  /** Names the key that asked. */
  readonly credential: string;
  /** The conversation that was asked for; `undefined` for a task that begins one. */
  readonly contextId: string | undefined;
  /** Where its turn runs or ran; `undefined` before. */
  readonly conversationId: string | undefined;
  readonly message: string;
  /** Ids of files. */
  readonly attachments: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  readonly idempotencyKey: string | undefined;
  readonly digest: string;
  readonly state: DeliveryState;
  readonly result: DeliveryResult | undefined;
  readonly reason: string | undefined;
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly deadlineAt: number;
  readonly endedAt: number | undefined;
}

export type NewDelivery = Omit<
  Delivery,
  'conversationId' | 'state' | 'result' | 'reason' | 'startedAt' | 'endedAt'
> & {
  /** What its idempotency key is one of. */
  readonly keyScope: string;
};

/** False when its idempotency key is taken. */
export async function insertDelivery(db: Db, delivery: NewDelivery): Promise<boolean> {
  const inserted = await db
    .insertInto('deliveries')
    .values({
      id: delivery.id,
      kind: delivery.kind,
      log_id: delivery.logId,
      agent_id: delivery.agentId,
      owner_id: delivery.ownerId,
      credential: delivery.credential,
      context_id: delivery.contextId ?? null,
      conversation_id: null,
      message: delivery.message,
      attachments: JSON.stringify(delivery.attachments),
      metadata: delivery.metadata === undefined ? null : JSON.stringify(delivery.metadata),
      key_scope: delivery.idempotencyKey === undefined ? null : delivery.keyScope,
      idempotency_key: delivery.idempotencyKey ?? null,
      digest: delivery.digest,
      state: 'queued' satisfies DeliveryState,
      result: null,
      reason: null,
      created_at: delivery.createdAt,
      started_at: null,
      deadline_at: delivery.deadlineAt,
      ended_at: null,
    })
    .onConflict(conflict => conflict.columns(['owner_id', 'key_scope', 'idempotency_key']).doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function findDelivery(db: Db, id: string): Promise<Delivery | undefined> {
  const row = await db.selectFrom('deliveries').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toDelivery(row);
}

export async function findDeliveryByKey(
  db: Db,
  key: { readonly ownerId: string; readonly keyScope: string; readonly idempotencyKey: string },
): Promise<Delivery | undefined> {
  const row = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('owner_id', '=', key.ownerId)
    .where('key_scope', '=', key.keyScope)
    .where('idempotency_key', '=', key.idempotencyKey)
    .executeTakeFirst();
  return row && toDelivery(row);
}

/** The key may be used again: the time it is remembered is over. */
export async function forgetDeliveryKey(db: Db, id: string): Promise<void> {
  await db.updateTable('deliveries').set({ key_scope: null }).where('id', '=', id).execute();
}

/** Newest first. */
export async function listDeliveries(
  db: Db,
  filter: {
    readonly ownerId: string;
    readonly kind: Delivery['kind'];
    readonly agentId?: string | undefined;
    /** Ended ones, open ones, or both. */
    readonly ended?: boolean | undefined;
    readonly since?: number | undefined;
    readonly limit: number;
  },
): Promise<Delivery[]> {
  let query = db
    .selectFrom('deliveries')
    .selectAll()
    .where('owner_id', '=', filter.ownerId)
    .where('kind', '=', filter.kind);
  if (filter.agentId !== undefined) query = query.where('agent_id', '=', filter.agentId);
  if (filter.ended !== undefined) query = query.where('ended_at', filter.ended ? 'is not' : 'is', null);
  if (filter.since !== undefined) query = query.where('created_at', '>', filter.since);
  const rows = await query.orderBy('created_at', 'desc').orderBy('id').limit(filter.limit).execute();
  return rows.map(toDelivery);
}

export async function countOpenDeliveries(db: Db, ownerId: string): Promise<number> {
  const row = await db
    .selectFrom('deliveries')
    .select(eb => eb.fn.countAll<number | string>().as('open'))
    .where('owner_id', '=', ownerId)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(row.open);
}

/** The one in the log that comes first of those that have not ended. */
export async function findNextDelivery(db: Db, logId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('deliveries')
    .select('id')
    .where('log_id', '=', logId)
    .where('ended_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

/** Its turn begins, or begins again, in this conversation. False when it has ended meanwhile. */
export async function startDelivery(
  db: Db,
  id: string,
  start: { readonly conversationId: string; readonly at: number },
): Promise<boolean> {
  const row = await db
    .updateTable('deliveries')
    .set(eb => ({
      state: 'running' satisfies DeliveryState,
      conversation_id: start.conversationId,
      started_at: eb.fn.coalesce('started_at', eb.val(start.at)),
    }))
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Its turn waits for a person. False when it has ended meanwhile. */
export async function suspendDelivery(db: Db, id: string, waitsFor: string): Promise<boolean> {
  const row = await db
    .updateTable('deliveries')
    .set({
      state: 'waiting' satisfies DeliveryState,
      result: JSON.stringify({ waitsFor } satisfies DeliveryResult),
    })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Ends it, once. False when it has ended already. */
export async function endDelivery(
  db: Db,
  id: string,
  end: {
    readonly state: EndState;
    readonly result?: DeliveryResult | undefined;
    readonly reason?: string | undefined;
    readonly at: number;
  },
): Promise<boolean> {
  const row = await db
    .updateTable('deliveries')
    .set({
      state: end.state,
      result: end.result === undefined ? null : JSON.stringify(end.result),
      reason: end.reason ?? null,
      ended_at: end.at,
    })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Those that wait for a person in a conversation that does not wait any more, nor goes on: somebody has ended it there. */
export async function listAbandonedDeliveries(db: Db, limit: number): Promise<Delivery[]> {
  const rows = await db
    .selectFrom('deliveries')
    .innerJoin('conversations', 'conversations.id', 'deliveries.conversation_id')
    .selectAll('deliveries')
    .where('deliveries.state', '=', 'waiting')
    .where('deliveries.ended_at', 'is', null)
    .where('conversations.state', 'not in', ['AWAITING_HUMAN', 'IN_PROGRESS'])
    .where('conversations.lease_until', 'is', null)
    .limit(limit)
    .execute();
  return rows.map(toDelivery);
}

/** Tasks that ended before then, with their logs, and the rows of messages that were answered before then. Answers how many. */
export async function deleteOldDeliveries(
  db: Db,
  old: { readonly endedBefore: number; readonly limit: number },
): Promise<number> {
  const rows = await db
    .selectFrom('deliveries')
    .select(['id', 'kind', 'log_id'])
    .where('ended_at', '<', old.endedBefore)
    .limit(old.limit)
    .execute();
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  await db.deleteFrom('deliveries').where('id', 'in', ids).execute();
  const logs = rows.filter(({ kind }) => kind === 'task').map(row => row.log_id);
  if (logs.length > 0) await db.deleteFrom('message_logs').where('id', 'in', logs).execute();
  return rows.length;
}

function toDelivery(row: Schema['deliveries']): Delivery {
  return {
    id: row.id,
    kind: row.kind === 'task' ? 'task' : 'message',
    logId: row.log_id,
    agentId: row.agent_id,
    ownerId: row.owner_id,
    credential: row.credential,
    contextId: row.context_id ?? undefined,
    conversationId: row.conversation_id ?? undefined,
    message: row.message,
    attachments: JSON.parse(row.attachments) as string[],
    metadata: row.metadata === null ? undefined : (JSON.parse(row.metadata) as Record<string, unknown>),
    idempotencyKey: row.idempotency_key ?? undefined,
    digest: row.digest,
    state: row.state as DeliveryState,
    result: row.result === null ? undefined : (JSON.parse(row.result) as DeliveryResult),
    reason: row.reason ?? undefined,
    createdAt: row.created_at,
    startedAt: row.started_at ?? undefined,
    deadlineAt: row.deadline_at,
    endedAt: row.ended_at ?? undefined,
  };
}
