import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/** The tables of files that callers upload and send along, of messages in the background, and of the logs of what was said. */
export const filesAndTasks: Migration = {
  name: 'files-and-tasks',
  async up(db, { int, text, bytes, tableEnd }) {
    const statements = [
      sql`create table files (
        id ${text} not null primary key,
        owner_id ${text} not null,
        filename ${text} not null,
        content_type ${text} not null,
        size ${int} not null,
        upload_until ${int} not null,
        upload_id ${text},
        sha256 ${text},
        created_at ${int} not null,
        uploaded_at ${int}
      ) ${tableEnd}`,
      sql`create index files_by_owner on files (owner_id, id)`,
      sql`create index files_not_uploaded on files (upload_until) where uploaded_at is null`,
      sql`create index files_by_upload on files (uploaded_at) where uploaded_at is not null`,

      sql`create table file_chunks (
        file_id ${text} not null references files (id) on delete cascade,
        upload_id ${text} not null,
        chunk_index ${int} not null,
        bytes ${bytes} not null,
        primary key (file_id, upload_id, chunk_index)
      ) ${tableEnd}`,

      sql`create table conversation_files (
        conversation_id ${text} not null references conversations (id) on delete cascade,
        step_index ${int} not null,
        file_id ${text} not null,
        size ${int} not null,
        primary key (conversation_id, step_index, file_id)
      ) ${tableEnd}`,

      sql`create table message_logs (
        id ${text} not null primary key,
        kind ${text} not null,
        conversation_id ${text} references conversations (id) on delete cascade,
        agent_id ${text} not null,
        owner_id ${text} not null,
        title ${text},
        metadata ${text},
        last_position ${int} not null,
        created_at ${int} not null,
        updated_at ${int} not null,
        closed_at ${int}
      ) ${tableEnd}`,
      sql`create index message_logs_by_conversation on message_logs (conversation_id) where conversation_id is not null`,
      sql`create index message_logs_by_owner on message_logs (owner_id, agent_id, kind, updated_at)`,

      sql`create table messages (
        log_id ${text} not null references message_logs (id) on delete cascade,
        position ${int} not null,
        id ${text} not null,
        type ${text} not null,
        state ${text} not null,
        in_reply_to ${text},
        body ${text} not null,
        payload ${text},
        created_at ${int} not null,
        primary key (log_id, position)
      ) ${tableEnd}`,

      sql`create table deliveries (
        id ${text} not null primary key,
        kind ${text} not null,
        log_id ${text} not null references message_logs (id) on delete cascade,
        agent_id ${text} not null,
        owner_id ${text} not null,
        credential ${text} not null,
        context_id ${text},
        conversation_id ${text},
        message ${text} not null,
        attachments ${text} not null,
        metadata ${text},
        key_scope ${text},
        idempotency_key ${text},
        digest ${text} not null,
        state ${text} not null,
        result ${text},
        reason ${text},
        created_at ${int} not null,
        started_at ${int},
        deadline_at ${int} not null,
        ended_at ${int}
      ) ${tableEnd}`,
      sql`create unique index deliveries_by_key on deliveries (owner_id, key_scope, idempotency_key)`,
      sql`create index deliveries_by_owner on deliveries (owner_id, kind, created_at)`,
      sql`create index deliveries_by_log on deliveries (log_id, created_at)`,
      sql`create index deliveries_open on deliveries (owner_id) where ended_at is null`,
      sql`create index deliveries_waiting on deliveries (state) where ended_at is null`,
      sql`create index deliveries_by_end on deliveries (ended_at) where ended_at is not null`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
