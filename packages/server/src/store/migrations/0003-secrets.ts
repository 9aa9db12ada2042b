import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/** The vault and the variables: what configuration refers to and does not hold itself. */
export const secrets: Migration = {
  name: 'secrets',
  async up(db, { int, text, bytes, tableEnd }) {
    const statements = [
      sql`create table data_keys (
        id ${text} not null primary key,
        vault_key_id ${text} not null,
        wrapped ${bytes} not null,
        is_current ${int} not null,
        created_at ${int} not null
      ) ${tableEnd}`,
      // However many nodes store the first secret or rotate at the same moment: one key is current.
      sql`create unique index data_keys_current on data_keys (is_current) where is_current = 1`,

      sql`create table secrets (
        name ${text} not null primary key,
        data_key_id ${text} not null references data_keys (id),
        sealed ${bytes} not null,
        checksum ${text} not null,
        allowed_agents ${text} not null,
        description ${text} not null,
        conversation_id ${text} references conversations (id) on delete cascade,
        created_by ${text} not null,
        created_at ${int} not null,
        modified_by ${text} not null,
        modified_at ${int} not null,
        last_accessed_at ${int}
      ) ${tableEnd}`,
      sql`create index secrets_by_data_key on secrets (data_key_id, name)`,
      sql`create index secrets_by_conversation on secrets (conversation_id) where conversation_id is not null`,

      sql`create table variables (
        name ${text} not null primary key,
        value ${text} not null,
        description ${text} not null,
        exportable ${int} not null,
        created_by ${text} not null,
        created_at ${int} not null,
        modified_by ${text} not null,
        modified_at ${int} not null
      ) ${tableEnd}`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
