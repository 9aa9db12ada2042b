import type { Db } from '../store.ts';

/** One line of a node's log (platform.md 1.12). */
export interface LogEntry {
  /** Names the line: the same in the memory of its node and in the table. */
  readonly id: string;
  /** Epoch ms, on the node's clock. */
  readonly at: number;
  readonly level: string;
  /** The part of the platform that spoke. */
  readonly loggerName: string;
  readonly message: string;
  readonly environment: string | undefined;
  readonly agentId: string | undefined;
  readonly agentVersion: number | undefined;
  readonly conversationId: string | undefined;
  readonly userId: string | undefined;
  /** The node. */
  readonly instanceId: string;
  /** JSON of what else the line had. */
  readonly details: string | undefined;
}

/** Which lines. What is left out does not matter. */
export interface LogFilter {
  readonly levels: readonly string[];
  readonly agentId?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly limit: number;
}

/** All in one statement; what is there already stays, so that a commit of unknown outcome may be repeated. */
export async function insertLogEntries(db: Db, entries: readonly LogEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await db
    .insertInto('log_entries')
    .values(
      entries.map(entry => ({
        id: entry.id,
        at: entry.at,
        level: entry.level,
        logger_name: entry.loggerName,
        message: entry.message,
        environment: entry.environment ?? null,
        agent_id: entry.agentId ?? null,
        agent_version: entry.agentVersion ?? null,
        conversation_id: entry.conversationId ?? null,
        user_id: entry.userId ?? null,
        instance_id: entry.instanceId,
        details: entry.details ?? null,
      })),
    )
    .onConflict(conflict => conflict.column('id').doNothing())
    .execute();
}

/** Newest first. */
export async function listLogEntries(db: Db, filter: LogFilter): Promise<LogEntry[]> {
  const { levels, agentId, conversationId, limit } = filter;
  let query = db
    .selectFrom('log_entries')
    .select([
      'id',
      'at',
      'level',
      'logger_name',
      'message',
      'environment',
      'agent_id',
      'agent_version',
      'conversation_id',
      'user_id',
      'instance_id',
      'details',
    ])
    .where('level', 'in', levels);
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId);
  if (conversationId !== undefined) query = query.where('conversation_id', '=', conversationId);
  const rows = await query.orderBy('at', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.map(row => ({
    id: row.id,
    at: row.at,
    level: row.level,
    loggerName: row.logger_name,
    message: row.message,
    environment: row.environment ?? undefined,
    agentId: row.agent_id ?? undefined,
    agentVersion: row.agent_version ?? undefined,
    conversationId: row.conversation_id ?? undefined,
    userId: row.user_id ?? undefined,
    instanceId: row.instance_id,
    details: row.details ?? undefined,
  }));
}

/** Each statement has to end in time, also when nobody has looked for long. */
const DELETE_AT_ONCE = 10_000;

/** Deletes lines from before `before`, and the oldest beyond `keep` of them. */
export async function deleteOldLogEntries(
  db: Db,
  { before, keep }: { readonly before: number; readonly keep: number },
): Promise<void> {
  const oldestKept = await db
    .selectFrom('log_entries')
    .select('at')
    .orderBy('at', 'desc')
    .limit(1)
    .offset(keep)
    .executeTakeFirst();
  // Of lines of the same millisecond some more than `keep` may stay.
  const end = Math.max(before, oldestKept?.at ?? 0);
  let deleted: number;
  do {
    const result = await db
      .deleteFrom('log_entries')
      .where('id', 'in', old =>
        old.selectFrom('log_entries').select('id').where('at', '<', end).orderBy('at').limit(DELETE_AT_ONCE),
      )
      .executeTakeFirst();
    deleted = Number(result.numDeletedRows);
  } while (deleted === DELETE_AT_ONCE);
}
