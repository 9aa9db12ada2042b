import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';
import { PLATFORM_CHAIN } from './audit-records.ts';

/** Something that was done to the platform, or refused, outside any conversation. */
export interface AuditEvent {
  /** Who. */
  readonly userId: string;
  /** By what kind of credential. */
  readonly via: string;
  readonly operation: string;
  readonly outcome: AuditOutcome;
  /** Ids of what it was about; never a text of anybody. */
  readonly subject: Readonly<Record<string, string | number | boolean>>;
  readonly createdAt: number;
}

export type AuditOutcome = 'done' | 'refused';

/** With its place in the chain `platform`. */
export interface SealedAuditEvent extends Omit<AuditEvent, 'subject'> {
  /** JSON. */
  readonly subject: string;
  readonly seq: number;
  readonly hash: string;
}

/**
 * Takes the head of the platform's chain, so that nobody else writes another before this unit is over. `undefined` when it is
 * gone, '' before the first event.
 */
export async function lockPlatformHead(db: Db): Promise<string | undefined> {
  const row = await db
    .updateTable('audit_heads')
    .set(eb => ({ head: eb.ref('head') }))
    .where('chain', '=', PLATFORM_CHAIN)
    .returning('head')
    .executeTakeFirst();
  return row?.head;
}

export async function findPlatformHead(db: Db): Promise<string | undefined> {
  const row = await db
    .selectFrom('audit_heads')
    .select('head')
    .where('chain', '=', PLATFORM_CHAIN)
    .executeTakeFirst();
  return row?.head;
}

/** Makes place for the head. False when it is there. */
export async function insertPlatformHead(db: Db): Promise<boolean> {
  const result = await db
    .insertInto('audit_heads')
    .values({ chain: PLATFORM_CHAIN, head: '' })
    .onConflict(conflict => conflict.column('chain').doNothing())
    .executeTakeFirst();
  return Number(result.numInsertedOrUpdatedRows) > 0;
}

export async function insertAuditEvent(db: Db, event: SealedAuditEvent, head: string): Promise<void> {
  await db
    .insertInto('audit_events')
    .values({
      seq: event.seq,
      created_at: event.createdAt,
      user_id: event.userId,
      via: event.via,
      operation: event.operation,
      outcome: event.outcome,
      subject: event.subject,
      hash: event.hash,
    })
    .execute();
  await db.updateTable('audit_heads').set({ head }).where('chain', '=', PLATFORM_CHAIN).execute();
}

const COLUMNS = ['seq', 'created_at', 'user_id', 'via', 'operation', 'outcome', 'subject', 'hash'] as const;

/** A page of the chain, in its order. */
export async function listChainedEvents(db: Db, after: number, limit: number): Promise<SealedAuditEvent[]> {
  const rows = await db
    .selectFrom('audit_events')
    .select(COLUMNS)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map(toEvent);
}

/** Newest first. */
export async function listAuditEvents(
  db: Db,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<SealedAuditEvent[]> {
  let query = db.selectFrom('audit_events').select(COLUMNS);
  if (before !== undefined) query = query.where('seq', '<', before);
  const rows = await query.orderBy('seq', 'desc').limit(limit).execute();
  return rows.map(toEvent);
}

function toEvent(row: Schema['audit_events']): SealedAuditEvent {
  return {
    seq: row.seq,
    createdAt: row.created_at,
    userId: row.user_id,
    via: row.via,
    operation: row.operation,
    outcome: row.outcome as AuditOutcome,
    subject: row.subject,
    hash: row.hash,
  };
}
