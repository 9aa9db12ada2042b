import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/** What agents remember of people beyond a conversation (platform.md 7.1). */
export const memory: Migration = {
  name: 'memory',
  async up(db, { int, text, tableEnd }) {
    const statements = [
      sql`create table user_memories (
        id ${text} not null primary key,
        user_id ${text} not null,
        key ${text} not null,
        value ${text} not null,
        category ${text} not null,
        visibility ${text} not null,
        source_agent_id ${text} not null,
        identity_agent_id ${text} not null,
        group_ids ${text} not null,
        source_conversation_id ${text},
        conflicted ${int} not null,
        access_count ${int} not null,
        created_at ${int} not null,
        updated_at ${int} not null
      ) ${tableEnd}`,
      sql`create unique index user_memories_by_identity on user_memories (user_id, key, identity_agent_id)`,
      sql`create index user_memories_by_agent on user_memories (user_id, source_agent_id, updated_at)`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
