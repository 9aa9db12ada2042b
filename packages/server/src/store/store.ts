import type { Kysely } from 'kysely';
import type { EventListener } from '../kernel/events.ts';
import type { TableManifest } from './manifest.ts';
import type { Schema } from './schema.ts';

/** A database handle: the store's own, or the transaction inside `commit`. Every function in `tables/` takes one first. */
export type Db = Kysely<Schema>;

/** What truly differs between the two engines, one file each in `engines/`. */
export interface Engine {
  readonly kind: 'sqlite' | 'postgres';
  /** The tables as they are in the database, for the manifest. */
  describe(db: Db): Promise<TableManifest[]>;
  /** Can rows be claimed past those another node is just claiming? With one process there is no other. */
  readonly skipsLocked: boolean;
}

export interface CommitOptions {
  /**
   * Nobody misses the unit when the machine loses power before anything else was committed: SQLite then does not wait for the disk. What is
   * committed later is never there without it, and a process that dies loses nothing. PostgreSQL makes no difference.
   */
  readonly mayBeLost?: boolean;
}

export interface Store {
  readonly engine: Engine;
  /** For reads outside a unit. Inside `commit` only the unit's own handle may be used. */
  readonly db: Db;
  /**
   * Runs one unit of work and resolves after it is durable. All of a unit or nothing of it. Units never await anything but
   * the database, use only the handle they are given (a Fault says so otherwise), and change nothing else: a unit may run
   * again from its start. On SQLite units that wait together share one transaction, each behind its own savepoint; on
   * PostgreSQL each is a transaction, run again when the server broke it off for another one's sake.
   */
  commit<T>(unit: (db: Db) => Promise<T>, options?: CommitOptions): Promise<T>;
  /**
   * Hears what units publish (see `publish`): of this node before `commit` resolves, of others on the same database within
   * milliseconds while the connection for it holds, and `resync` after it did not. Answers how to stop.
   */
  subscribe(listener: EventListener): () => void;
  /**
   * Milliseconds since it was last certain that all news of other nodes has been heard; 0 where there are no others. Below a
   * second while the connection for news holds, growing while it does not.
   */
  newsAgeMs(): number;
  /** Waits for the units that are under way. */
  close(): Promise<void>;
}
