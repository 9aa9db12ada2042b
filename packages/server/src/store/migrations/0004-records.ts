import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/**
 * What every node has logged as a warning or worse, so that it is found from any node and after a restart; and the chains of
 * the audit trail. Entries that are there already stay where they are and have no place in a chain.
 */
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

      sql`create table audit_records (
        conversation_id ${text} not null,
        seq ${int} not null,
        agent_id ${text} not null,
        agent_version ${int} not null,
        user_id ${text} not null,
        environment ${text} not null,
        entries ${text} not null,
        hash ${text} not null,
        primary key (conversation_id, seq)
      ) ${tableEnd}`,
      sql`alter table conversations add column audit_head ${text}`,

      sql`create table audit_events (
        seq ${int} not null primary key,
        created_at ${int} not null,
        user_id ${text} not null,
        via ${text} not null,
        operation ${text} not null,
        outcome ${text} not null,
        subject ${text} not null,
        hash ${text} not null
      ) ${tableEnd}`,
      sql`create table audit_heads (
        chain ${text} not null primary key,
        head ${text} not null
      ) ${tableEnd}`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
