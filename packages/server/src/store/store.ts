import type { Kysely, RawBuilder } from 'kysely';
import type { Schema } from './schema.ts';

/** A database handle: the store's own, or the transaction inside `commit`. Every function in `tables/` takes one first. */
export type Db = Kysely<Schema>;

/** What truly differs between the two engines, one file each in `engines/`. */
export interface Engine {
  readonly kind: 'sqlite' | 'postgres';
  /** The time leases are compared with, epoch ms: the database's on PostgreSQL, this process's on SQLite. */
  now(): RawBuilder<number>;
}

export interface Store {
  readonly engine: Engine;
  /** For reads outside a unit. Inside `commit` only the unit's own handle may be used. */
  readonly db: Db;
  /**
   * Runs one unit of work and resolves after it is durable. All of a unit or nothing of it. Units never await anything but
   * the database. On SQLite units that wait together share one transaction, each behind its own savepoint.
   */
  commit<T>(unit: (db: Db) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}
