import { prepareInsert } from '../prepared-query.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';

/** The chain in `audit_heads` that is no conversation's. */
export const PLATFORM_CHAIN = 'platform';

/** What one step of a turn did (platform.md 1.11), before it has its place in the chain of its conversation. */
export interface AuditEntry {
  readonly id: string;
  readonly conversationId: string;
  readonly agentId: string;
  readonly agentVersion: number;
  readonly userId: string;
  readonly environment: string;
  readonly stepIndex: number;
  readonly taskIndex: number;
  readonly taskId: string;
  readonly taskType: string;
  readonly durationMs: number;
  /** What the person said, on the first entry of a turn only: it may be long, and the turn has one. */
  readonly input: string | undefined;
  /** The values the step changed. */
  readonly output: Readonly<Record<string, unknown>>;
  /** The turn's actions after the step. */
  readonly actions: readonly string[];
  readonly createdAt: number;
}

/** As it is stored and never changed: without secrets, with its place in the chain. Made by `records/audit`. */
export interface SealedAuditEntry extends Omit<AuditEntry, 'output' | 'actions'> {
  /** JSON. */
  readonly output: string;
  /** JSON. */
  readonly actions: string;
  /** 1 for the first entry of the conversation's chain; 0 for entries from before there were chains. */
  readonly seq: number;
  readonly hash: string | undefined;
}

/** All in one statement, in the commit of what they tell of. */
export async function insertAuditEntries(db: Db, entries: readonly SealedAuditEntry[]): Promise<void> {
  await insertRows(
    db,
    entries.map(entry => ({
      id: entry.id,
      conversation_id: entry.conversationId,
      agent_id: entry.agentId,
      agent_version: entry.agentVersion,
      user_id: entry.userId,
      environment: entry.environment,
      step_index: entry.stepIndex,
      task_index: entry.taskIndex,
      task_id: entry.taskId,
      task_type: entry.taskType,
      duration_ms: entry.durationMs,
      input: entry.input ?? null,
      output: entry.output,
      actions: entry.actions,
      created_at: entry.createdAt,
      seq: entry.seq,
      hash: entry.hash ?? null,
    })),
  );
}

const insertRows = prepareInsert('audit_entries');

const COLUMNS = [
  'id',
  'conversation_id',
  'agent_id',
  'agent_version',
  'user_id',
  'environment',
  'step_index',
  'task_index',
  'task_id',
  'task_type',
  'duration_ms',
  'input',
  'output',
  'actions',
  'created_at',
  'seq',
  'hash',
] as const;

/** Newest first. */
export async function listAuditEntries(
  db: Db,
  conversationId: string,
  limit: number,
): Promise<SealedAuditEntry[]> {
  const rows = await db
    .selectFrom('audit_entries')
    .select(COLUMNS)
    .where('conversation_id', '=', conversationId)
    .orderBy('seq', 'desc')
    .orderBy('step_index', 'desc')
    .orderBy('task_index', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toEntry);
}

/** A page of a conversation's chain in its order: what stands behind the place `seq`, `id`. */
export async function listChainedEntries(
  db: Db,
  conversationId: string,
  after: { readonly seq: number; readonly id: string },
  limit: number,
): Promise<SealedAuditEntry[]> {
  const rows = await db
    .selectFrom('audit_entries')
    .select(COLUMNS)
    .where('conversation_id', '=', conversationId)
    .where('seq', '>', 0)
    .where(eb =>
      eb.or([eb('seq', '>', after.seq), eb.and([eb('seq', '=', after.seq), eb('id', '>', after.id)])]),
    )
    .orderBy('seq')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toEntry);
}

/** Entries from before there were chains. */
export async function countUnchainedEntries(db: Db): Promise<number> {
  const row = await db
    .selectFrom('audit_entries')
    .select(eb => eb.fn.countAll<number | string>().as('count'))
    .where('seq', '=', 0)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/**
 * Conversations with a chain, in the order of their ids: those whose row has a head, and those with entries only. `head` is
 * `undefined` where it is gone.
 */
export async function listEntryChains(
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
  const withEntries = await db
    .selectFrom('audit_entries')
    .select(['conversation_id as id', eb => eb.lit(null).as('head')])
    .distinct()
    .where('conversation_id', '>', after)
    .where('seq', '>', 0)
    .orderBy('conversation_id')
    .limit(limit)
    .execute();
  const heads = new Map<string, string | null>();
  for (const { id, head } of [...withEntries, ...deleted, ...withHead]) heads.set(id, head);
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

function toEntry(row: Schema['audit_entries']): SealedAuditEntry {
  return {
    id: row.id,
    conversationId: row.conversation_id,
    agentId: row.agent_id,
    agentVersion: row.agent_version,
    userId: row.user_id,
    environment: row.environment,
    stepIndex: row.step_index,
    taskIndex: row.task_index,
    taskId: row.task_id,
    taskType: row.task_type,
    durationMs: row.duration_ms,
    input: row.input ?? undefined,
    output: row.output,
    actions: row.actions,
    createdAt: row.created_at,
    seq: row.seq,
    hash: row.hash ?? undefined,
  };
}
