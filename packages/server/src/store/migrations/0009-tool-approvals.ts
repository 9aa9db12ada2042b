import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/** What a person is asked to approve, and what they decided about each part of it. */
export const toolApprovals: Migration = {
  name: 'tool-approvals',
  async up(db, { text }) {
    await sql`alter table pauses add column request ${text}`.execute(db);
    await sql`alter table pauses add column frozen ${text}`.execute(db);
    await sql`alter table pauses add column answer ${text}`.execute(db);
  },
};
