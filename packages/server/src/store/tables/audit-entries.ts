import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';

/** What one step of a turn did (platform.md 1.11). */
export interface AuditEntry {
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

/** What all entries of one commit have in common. */
export interface AuditedConversation {
  readonly conversationId: string;
  readonly agentId: string;
  readonly agentVersion: number;
  readonly userId: string;
  readonly environment: string;
}

/** An entry as it is read, wherever it is stored. */
export interface AuditEntryRead extends AuditEntry, AuditedConversation {
  readonly id: string;
  /** Place in the conversation's chain of what was written in one commit; 0 for entries from before there were chains. */
  readonly seq: number;
  readonly hash: string | undefined;
}

/** Entries from before there were chains, newest first. */
export async function listUnchainedEntries(
  db: Db,
  conversationId: string,
  limit: number,
): Promise<AuditEntryRead[]> {
  const rows = await db
    .selectFrom('audit_entries')
    .selectAll()
    .where('conversation_id', '=', conversationId)
    .orderBy('step_index', 'desc')
    .orderBy('task_index', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toEntry);
}

export async function countUnchainedEntries(db: Db): Promise<number> {
  const row = await db
    .selectFrom('audit_entries')
    .select(eb => eb.fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

function toEntry(row: Schema['audit_entries']): AuditEntryRead {
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
    output: JSON.parse(row.output) as Record<string, unknown>,
    actions: JSON.parse(row.actions) as string[],
    createdAt: row.created_at,
    seq: 0,
    hash: undefined,
  };
}
