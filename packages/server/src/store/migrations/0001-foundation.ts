import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/** The tables of users, keys, documents, deployments, conversations, their records and jobs, and the time they agree on. */
export const foundation: Migration = {
  name: 'foundation',
  async up(db, { int, text, bytes, tableEnd, nowFunction }) {
    const statements = [
      ...(nowFunction ? [nowFunction] : []),

      sql`create table users (
        id ${text} not null primary key,
        name ${text} not null,
        roles ${text} not null,
        created_at ${int} not null
      ) ${tableEnd}`,

      sql`create table agents (
        id ${text} not null primary key,
        owner_id ${text} not null,
        mcp_enabled ${int} not null,
        created_at ${int} not null
      ) ${tableEnd}`,
      sql`create index agents_by_owner on agents (owner_id)`,

      sql`create table keys (
        id ${text} not null primary key,
        kind ${text} not null,
        user_id ${text} not null references users (id),
        agent_id ${text} references agents (id),
        hash ${text} not null,
        prefix ${text} not null,
        name ${text} not null,
        scopes ${text} not null,
        created_at ${int} not null,
        expires_at ${int},
        revoked_at ${int}
      ) ${tableEnd}`,
      sql`create unique index keys_by_hash on keys (hash)`,
      sql`create index keys_by_user on keys (user_id, created_at)`,
      sql`create index keys_by_agent on keys (agent_id)`,

      sql`create table server_secrets (
        name ${text} not null primary key,
        value ${bytes} not null,
        created_at ${int} not null
      ) ${tableEnd}`,

      sql`create table documents (
        type ${text} not null,
        id ${text} not null,
        current_version ${int} not null,
        deleted ${int} not null,
        name ${text} not null,
        description ${text} not null,
        name_folded ${text} not null,
        description_folded ${text} not null,
        created_by ${text} not null,
        created_at ${int} not null,
        modified_by ${text} not null,
        modified_at ${int} not null,
        primary key (type, id)
      ) ${tableEnd}`,
      sql`create index documents_by_modified on documents (type, modified_at)`,

      sql`create table document_versions (
        type ${text} not null,
        id ${text} not null,
        version ${int} not null,
        body ${text} not null,
        created_by ${text} not null,
        created_at ${int} not null,
        primary key (type, id, version),
        foreign key (type, id) references documents (type, id) on delete cascade
      ) ${tableEnd}`,

      sql`create table deployments (
        environment ${text} not null,
        agent_id ${text} not null references agents (id),
        agent_version ${int} not null,
        status ${text} not null,
        deployed_by ${text} not null,
        deployed_at ${int} not null,
        primary key (environment, agent_id, agent_version)
      ) ${tableEnd}`,

      sql`create table conversations (
        id ${text} not null primary key,
        agent_id ${text} not null,
        agent_version ${int} not null,
        environment ${text} not null,
        user_id ${text} not null,
        state ${text} not null,
        step_count ${int} not null,
        counters ${text} not null,
        properties ${text} not null,
        lease_holder ${text},
        lease_until ${int},
        lease_fence ${int} not null,
        created_at ${int} not null,
        updated_at ${int} not null
      ) ${tableEnd}`,
      sql`create index conversations_by_agent on conversations (agent_id, updated_at)`,
      sql`create index conversations_by_agent_and_user on conversations (agent_id, user_id, updated_at)`,
      // Few rows are leased at a time; a node that starts finds its own without reading the rest.
      sql`create index conversations_by_lease on conversations (lease_holder) where lease_holder is not null`,

      sql`create table conversation_steps (
        conversation_id ${text} not null references conversations (id) on delete cascade,
        step_index ${int} not null,
        input ${text},
        data ${text} not null,
        output ${text} not null,
        created_at ${int} not null,
        primary key (conversation_id, step_index)
      ) ${tableEnd}`,

      sql`create table audit_entries (
        id ${text} not null primary key,
        conversation_id ${text} not null,
        agent_id ${text} not null,
        agent_version ${int} not null,
        user_id ${text} not null,
        environment ${text} not null,
        step_index ${int} not null,
        task_index ${int} not null,
        task_id ${text} not null,
        task_type ${text} not null,
        duration_ms ${int} not null,
        input ${text},
        output ${text} not null,
        actions ${text} not null,
        created_at ${int} not null
      ) ${tableEnd}`,
      sql`create index audit_entries_by_conversation on audit_entries (conversation_id, step_index, task_index)`,

      sql`create table idempotency_keys (
        principal_id ${text} not null,
        agent_id ${text} not null,
        key ${text} not null,
        digest ${text} not null,
        conversation_id ${text} not null,
        fence ${int} not null,
        answer ${text},
        expires_at ${int} not null,
        primary key (principal_id, agent_id, key)
      ) ${tableEnd}`,
      sql`create index idempotency_keys_by_expiry on idempotency_keys (expires_at)`,

      sql`create table jobs (
        id ${text} not null primary key,
        kind ${text} not null,
        payload ${text} not null,
        every_ms ${int},
        due_at ${int} not null,
        holder ${text},
        fence ${int} not null,
        attempts ${int} not null,
        last_error ${text},
        dead_at ${int},
        created_at ${int} not null
      ) ${tableEnd}`,
      sql`create index jobs_by_due on jobs (due_at) where dead_at is null`,
      sql`create index jobs_by_holder on jobs (holder) where holder is not null`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
