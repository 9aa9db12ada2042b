import { sql } from 'kysely';

/**
 * The time leases are compared with, epoch ms: the server's on PostgreSQL, this process's clock on SQLite. A function of
 * the database on both, so that a query with it reads the same each time.
 */
export const NOW = sql<number>`now_ms()`;
