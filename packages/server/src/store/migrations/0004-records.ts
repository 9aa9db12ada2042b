import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/** What every node has logged as a warning or worse, so that it is found from any node and after a restart. */
export const records: Migration = {
  name: 'records',
  async up(db, { int, text, tableEnd }) {
    const statements = [
      sql`create table log_entries (
        id ${text} not null primary key,
        at ${int} not null,
        level ${text} not null,
        logger_name ${text} not null,
        message ${text} not null,
        environment ${text},
        agent_id ${text},
        agent_version ${int},
        conversation_id ${text},
        user_id ${text},
        instance_id ${text} not null,
        details ${text}
      ) ${tableEnd}`,
      sql`create index log_entries_by_time on log_entries (at)`,
      sql`create index log_entries_by_conversation on log_entries (conversation_id, at) where conversation_id is not null`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
