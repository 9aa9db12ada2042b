import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/** The tables of files that callers upload and send along with messages. */
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
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
