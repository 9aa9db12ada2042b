import type { MessageType } from '@patchbay/contract/operations/messages';
import { publish } from '../events.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';

/** What was said in a conversation or a task, in order. A conversation's log has the id of the conversation. */
export interface MessageLog {
  readonly id: string;
  readonly kind: 'conversation' | 'task';
  readonly agentId: string;
  readonly ownerId: string;
  readonly title: string | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly closedAt: number | undefined;
}

export interface LoggedMessage {
  readonly id: string;
  /** Strictly grows within a log, and may leave numbers out (BX-25). */
  readonly position: number;
  readonly type: MessageType;
  readonly state: 'completed' | 'failed' | 'cancelled';
  readonly inReplyTo: string | undefined;
  readonly body: string;
  readonly payload: Readonly<Record<string, unknown>> | undefined;
  readonly createdAt: number;
}

export async function insertMessageLog(
  db: Db,
  log: Omit<MessageLog, 'updatedAt' | 'closedAt'>,
): Promise<void> {
  await db
    .insertInto('message_logs')
    .values({
      id: log.id,
      kind: log.kind,
      conversation_id: log.kind === 'conversation' ? log.id : null,
      agent_id: log.agentId,
      owner_id: log.ownerId,
      title: log.title ?? null,
      metadata: log.metadata === undefined ? null : JSON.stringify(log.metadata),
      last_position: 0,
      created_at: log.createdAt,
      updated_at: log.createdAt,
      closed_at: null,
    })
    .execute();
}

export async function findMessageLog(db: Db, id: string): Promise<MessageLog | undefined> {
  const row = await db.selectFrom('message_logs').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toLog(row);
}

/** Conversations of one owner with one agent that are not closed before `closedAfter`, latest first. */
export async function listConversationLogs(
  db: Db,
  filter: {
    readonly ownerId: string;
    readonly agentId: string;
    readonly closedAfter: number;
    readonly limit: number;
  },
): Promise<MessageLog[]> {
  const rows = await db
    .selectFrom('message_logs')
    .selectAll()
    .where('owner_id', '=', filter.ownerId)
    .where('agent_id', '=', filter.agentId)
    .where('kind', '=', 'conversation')
    .where(eb => eb.or([eb('closed_at', 'is', null), eb('closed_at', '>', filter.closedAfter)]))
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .limit(filter.limit)
    .execute();
  return rows.map(toLog);
}

/** Closing again keeps the first time. */
export async function closeMessageLog(db: Db, id: string, at: number): Promise<void> {
  await db
    .updateTable('message_logs')
    .set({ closed_at: at, updated_at: at })
    .where('id', '=', id)
    .where('closed_at', 'is', null)
    .execute();
  publish(db, { kind: 'log-changed', logId: id });
}

/**
 * Adds messages at the end. Writers of one log wait for each other until their units end, so whoever has read up to a position
 * never misses one before it.
 */
export async function appendMessages(
  db: Db,
  logId: string,
  messages: readonly (Omit<LoggedMessage, 'position' | 'inReplyTo' | 'payload'> &
    Partial<Pick<LoggedMessage, 'inReplyTo' | 'payload'>>)[],
): Promise<void> {
  const last = messages.at(-1);
  if (!last) return;
  const log = await db
    .updateTable('message_logs')
    .set(eb => ({ last_position: eb('last_position', '+', messages.length), updated_at: last.createdAt }))
    .where('id', '=', logId)
    .returning('last_position')
    .executeTakeFirst();
  // The log was removed meanwhile: what is left to say has no reader.
  if (!log) return;
  const first = log.last_position - messages.length + 1;
  await db
    .insertInto('messages')
    .values(
      messages.map((message, index) => ({
        log_id: logId,
        position: first + index,
        id: message.id,
        type: message.type,
        state: message.state,
        in_reply_to: message.inReplyTo ?? null,
        body: message.body,
        payload: message.payload === undefined ? null : JSON.stringify(message.payload),
        created_at: message.createdAt,
      })),
    )
    .execute();
  publish(db, { kind: 'log-changed', logId });
}

/** Oldest first. */
export async function listMessages(
  db: Db,
  page: { readonly logId: string; readonly since: number; readonly limit: number },
): Promise<LoggedMessage[]> {
  const rows = await db
    .selectFrom('messages')
    .selectAll()
    .where('log_id', '=', page.logId)
    .where('position', '>', page.since)
    .orderBy('position')
    .limit(page.limit)
    .execute();
  return rows.map(row => ({
    id: row.id,
    position: row.position,
    type: row.type as MessageType,
    state: row.state as LoggedMessage['state'],
    inReplyTo: row.in_reply_to ?? undefined,
    body: row.body,
    payload: row.payload === null ? undefined : (JSON.parse(row.payload) as Record<string, unknown>),
    createdAt: row.created_at,
  }));
}

function toLog(row: Schema['message_logs']): MessageLog {
  return {
    id: row.id,
    kind: row.kind === 'task' ? 'task' : 'conversation',
    agentId: row.agent_id,
    ownerId: row.owner_id,
    title: row.title ?? undefined,
    metadata: row.metadata === null ? undefined : (JSON.parse(row.metadata) as Record<string, unknown>),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    closedAt: row.closed_at ?? undefined,
  };
}
