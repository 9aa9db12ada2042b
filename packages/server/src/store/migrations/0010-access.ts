import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/** People who sign in, what they allow clients, with whom they share agents, and their own credentials at MCP servers. */
export const access: Migration = {
  name: 'access',
  async up(db, { int, text, bytes, tableEnd }) {
    const statements = [
      sql`create table accounts (
        user_id ${text} not null primary key references users (id) on delete cascade,
        login ${text},
        password ${text},
        failed_sign_ins ${int} not null,
        locked_until ${int},
        disabled ${int} not null,
        issuer ${text},
        subject ${text}
      ) ${tableEnd}`,
      sql`create unique index accounts_by_login on accounts (login) where login is not null`,
      sql`create unique index accounts_by_subject on accounts (issuer, subject) where subject is not null`,

      sql`create table page_sessions (
        id_hash ${text} not null primary key,
        user_id ${text} not null references users (id) on delete cascade,
        created_at ${int} not null,
        expires_at ${int} not null
      ) ${tableEnd}`,
      sql`create index page_sessions_by_user on page_sessions (user_id)`,
      sql`create index page_sessions_by_end on page_sessions (expires_at)`,

      sql`create table sign_in_links (
        hash ${text} not null primary key,
        user_id ${text} not null references users (id) on delete cascade,
        purpose ${text} not null,
        expires_at ${int} not null
      ) ${tableEnd}`,
      sql`create unique index sign_in_links_by_user on sign_in_links (user_id, purpose)`,
      sql`create index sign_in_links_by_end on sign_in_links (expires_at)`,

      sql`create table authorization_records (
        kind ${text} not null,
        id ${text} not null,
        payload ${text} not null,
        grant_id ${text},
        uid ${text},
        used_at ${int},
        created_at ${int} not null,
        expires_at ${int},
        primary key (kind, id)
      ) ${tableEnd}`,
      sql`create index authorization_records_by_grant on authorization_records (grant_id) where grant_id is not null`,
      sql`create index authorization_records_by_uid on authorization_records (uid) where uid is not null`,
      sql`create index authorization_records_by_end on authorization_records (expires_at) where expires_at is not null`,

      sql`create table grants (
        id ${text} not null primary key,
        user_id ${text} not null references users (id) on delete cascade,
        client_id ${text} not null,
        client_name ${text} not null,
        door ${text} not null,
        agents ${text} not null,
        scope ${text} not null,
        created_at ${int} not null,
        expires_at ${int} not null,
        revoked_at ${int}
      ) ${tableEnd}`,
      sql`create index grants_by_user on grants (user_id)`,
      sql`create index grants_by_end on grants (expires_at)`,

      sql`create table agent_shares (
        agent_id ${text} not null,
        grantee ${text} not null,
        created_at ${int} not null,
        primary key (agent_id, grantee)
      ) ${tableEnd}`,
      sql`create index agent_shares_by_grantee on agent_shares (grantee)`,

      sql`alter table keys add column shared ${int} not null default 0`,
      sql`alter table keys add column last_used_at ${int}`,

      sql`create table personal_credentials (
        user_id ${text} not null,
        name ${text} not null,
        data_key_id ${text} not null,
        sealed ${bytes} not null,
        revision ${int} not null,
        given ${int} not null,
        renewing_until ${int},
        created_at ${int} not null,
        updated_at ${int} not null,
        primary key (user_id, name)
      ) ${tableEnd}`,

      sql`create table server_sign_ins (
        state_hash ${text} not null primary key,
        user_id ${text} not null,
        credential ${text} not null,
        data_key_id ${text} not null,
        sealed ${bytes} not null,
        expires_at ${int} not null
      ) ${tableEnd}`,

      sql`create table kept_tools (
        instance ${text} not null,
        server ${text} not null,
        tools ${text} not null,
        listed_at ${int} not null,
        primary key (instance, server)
      ) ${tableEnd}`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
