import { sql } from 'kysely';
import type { Migration } from './migrations.ts';

/** MCP servers that were added while the platform runs, and the tools of servers as people have accepted them. */
export const servers: Migration = {
  name: 'servers',
  async up(db, { int, text, tableEnd }) {
    const statements = [
      sql`create table servers (
        instance ${text} not null,
        name ${text} not null,
        options ${text} not null,
        revision ${int} not null,
        created_by ${text} not null,
        created_at ${int} not null,
        updated_at ${int} not null,
        primary key (instance, name)
      ) ${tableEnd}`,

      sql`create table accepted_tools (
        instance ${text} not null,
        server ${text} not null,
        tool ${text} not null,
        digest ${text} not null,
        snapshot ${text} not null,
        accepted_by ${text} not null,
        accepted_at ${int} not null,
        primary key (instance, server, tool)
      ) ${tableEnd}`,
    ];
    for (const statement of statements) await statement.execute(db);
  },
};
