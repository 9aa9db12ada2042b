import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/** Which versions running conversations may follow, what intents stand for, and the one conversation of each intent and user. */
export const deployment: Migration = {
  name: 'deployment',
  async up(db, { int, text, tableEnd }) {
    const statements = [
      sql`alter table agents add column revision ${int} not null default 0`,
      sql`alter table document_versions add column compatible_from ${int}`,
      sql`alter table deployments add column compatible_from ${int}`,
      sql`create index deployments_by_agent on deployments (agent_id)`,

      sql`create table agent_triggers (
        intent ${text} not null primary key,
        owner_id ${text} not null,
        deployments ${text} not null,
        created_at ${int} not null,
        modified_at ${int} not null
      ) ${tableEnd}`,
      sql`create index agent_triggers_by_owner on agent_triggers (owner_id)`,

      sql`create table agent_trigger_agents (
        intent ${text} not null references agent_triggers (intent) on delete cascade,
        agent_id ${text} not null,
        primary key (intent, agent_id)
      ) ${tableEnd}`,
      sql`create index agent_trigger_agents_by_agent on agent_trigger_agents (agent_id)`,

      sql`create table managed_conversations (
        intent ${text} not null,
        user_id ${text} not null,
        environment ${text} not null,
        agent_id ${text} not null,
        conversation_id ${text} not null,
        created_at ${int} not null,
        primary key (intent, user_id)
      ) ${tableEnd}`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
