import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/** What a turn needs to act, to wait and to be taken back: checkpoints, the journal of effects, pauses, and undo. */
export const turns: Migration = {
  name: 'turns',
  async up(db, { int, text, tableEnd }) {
    const statements = [
      sql`alter table conversations add column undone_steps ${int} not null default 0`,
      sql`alter table conversation_steps add column changes ${text} not null default '{}'`,

      sql`create table turn_checkpoints (
        conversation_id ${text} not null primary key references conversations (id) on delete cascade,
        checkpoint ${text} not null,
        attempts ${int} not null,
        cancelled ${int} not null,
        created_at ${int} not null
      ) ${tableEnd}`,

      sql`create table effects (
        conversation_id ${text} not null references conversations (id) on delete cascade,
        step_index ${int} not null,
        task_index ${int} not null,
        number ${int} not null,
        fence ${int} not null,
        what ${text} not null,
        outcome ${text},
        started_at ${int} not null,
        primary key (conversation_id, step_index, task_index, number)
      ) ${tableEnd}`,

      sql`create table pauses (
        id ${text} not null primary key,
        kind ${text} not null,
        conversation_id ${text} not null references conversations (id) on delete cascade,
        agent_id ${text} not null,
        user_id ${text} not null,
        state ${text} not null,
        reason ${text} not null,
        timeout_policy ${text} not null,
        approval_timeout ${text} not null,
        opened_at ${int} not null,
        verdict ${text},
        note ${text},
        decided_by ${text},
        decided_at ${int}
      ) ${tableEnd}`,
      sql`create index pauses_of_conversation on pauses (conversation_id)`,
      // One conversation waits for one thing at a time.
      sql`create unique index pauses_by_conversation on pauses (conversation_id) where decided_at is null`,
      sql`create index pauses_by_opening on pauses (opened_at) where decided_at is null`,
      sql`create index pauses_by_user on pauses (user_id, opened_at) where decided_at is null`,
      // Those of a state, and those that are old, without reading the others. Every turn writes it, so it takes another one's place.
      sql`drop index conversations_by_agent`,
      sql`create index conversations_by_agent_and_state on conversations (agent_id, state, updated_at)`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
