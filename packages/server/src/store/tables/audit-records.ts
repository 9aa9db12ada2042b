import { prepareInsert } from '../prepared-query.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';
import type { AuditedConversation } from './audit-entries.ts';

/** The chain in `audit_heads` that is no conversation's. */
export const PLATFORM_CHAIN = 'platform';

/** Entries that were written in one commit: a link of the chain of their conversation. Stored and never changed; made by `records/audit`. */
export interface AuditRecord extends AuditedConversation {
  /** Place in the chain, from 1. */
  readonly seq: number;
  /** JSON: `AuditEntry[]` without secrets, in the order they happened. */
  readonly entries: string;
  readonly hash: string;
}

/** In the commit of what they tell of. */
export async function insertAuditRecords(db: Db, records: readonly AuditRecord[]): Promise<void> {
  await insertRows(
    db,
    records.map(record => ({
      conversation_id: record.conversationId,
      seq: record.seq,
      agent_id: record.agentId,
      agent_version: record.agentVersion,
      user_id: record.userId,
      environment: record.environment,
      entries: record.entries,
      hash: record.hash,
    })),
  );
}

const insertRows = prepareInsert('audit_records');

/** Newest first; those before the place `before`. */
export async function listLatestRecords(
  db: Db,
  conversationId: string,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<AuditRecord[]> {
  const rows = await db
    .selectFrom('audit_records')
    .selectAll()
    .where('conversation_id', '=', conversationId)
    .where('seq', '<', before)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toRecord);
}

/** A page of a conversation's chain in its order: what stands behind the place `after`. */
export async function listChainedRecords(
  db: Db,
  conversationId: string,
  after: number,
  limit: number,
): Promise<AuditRecord[]> {
  const rows = await db
    .selectFrom('audit_records')
    .selectAll()
    .where('conversation_id', '=', conversationId)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map(toRecord);
}

/**
 * Conversations with a chain, in the order of their ids: those whose row has a head, and those with records only. `head` is
 * `undefined` where it is gone.
 */
export async function listRecordChains(
  db: Db,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<{ conversationId: string; head: string | undefined }[]> {
  const withHead = await db
    .selectFrom('conversations')
    .select(['id', 'audit_head as head'])
    .where('id', '>', after)
    .where('audit_head', 'is not', null)
    .orderBy('id')
    .limit(limit)
    .execute();
  const deleted = await db
    .selectFrom('audit_heads')
    .select(['chain as id', 'head'])
    .where('chain', '>', after)
    .where('chain', '<>', PLATFORM_CHAIN)
    .orderBy('chain')
    .limit(limit)
    .execute();
  const withRecords = await db
    .selectFrom('audit_records')
    .select(['conversation_id as id', eb => eb.lit(null).as('head')])
    .distinct()
    .where('conversation_id', '>', after)
    .orderBy('conversation_id')
    .limit(limit)
    .execute();
  const heads = new Map<string, string | null>();
  for (const { id, head } of [...withRecords, ...deleted, ...withHead]) heads.set(id, head);
  return [...heads]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, limit)
    .map(([conversationId, head]) => ({ conversationId, head: head ?? undefined }));
}

/** Remembers where the chains of conversations end that are deleted in this unit. */
export async function keepAuditHeads(
  db: Db,
  deleted: readonly { readonly id: string; readonly audit_head: string | null }[],
): Promise<void> {
  const heads = deleted.flatMap(({ id, audit_head }) =>
    audit_head === null ? [] : { chain: id, head: audit_head },
  );
  if (heads.length > 0) await db.insertInto('audit_heads').values(heads).execute();
}

/** Takes the head of a conversation's chain, so that nobody else writes another before this unit is over. */
export async function lockAuditHead(db: Db, conversationId: string): Promise<string | undefined> {
  const row = await db
    .updateTable('conversations')
    .set(eb => ({ audit_head: eb.ref('audit_head') }))
    .where('id', '=', conversationId)
    .returning('audit_head')
    .executeTakeFirst();
  return row?.audit_head ?? undefined;
}

export async function setAuditHead(db: Db, conversationId: string, head: string | null): Promise<void> {
  await db.updateTable('conversations').set({ audit_head: head }).where('id', '=', conversationId).execute();
}

/** Where the chain of a conversation ends, also of one that was deleted. */
export async function findAuditHead(db: Db, conversationId: string): Promise<string | undefined> {
  const row =
    (await db
      .selectFrom('conversations')
      .select('audit_head as head')
      .where('id', '=', conversationId)
      .executeTakeFirst()) ??
    (await db
      .selectFrom('audit_heads')
      .select('head')
      .where('chain', '=', conversationId)
      .executeTakeFirst());
  return row?.head ?? undefined;
}

function toRecord(row: Schema['audit_records']): AuditRecord {
  return {
    conversationId: row.conversation_id,
    seq: row.seq,
    agentId: row.agent_id,
    agentVersion: row.agent_version,
    userId: row.user_id,
    environment: row.environment,
    entries: row.entries,
    hash: row.hash,
  };
}
