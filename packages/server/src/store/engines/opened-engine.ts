import type { RawBuilder } from 'kysely';
import type { Db, Engine, Store } from '../store.ts';

/** How an engine spells what migrations are written with. */
export interface MigrationWords {
  /** Whole numbers; booleans are 0 and 1, times epoch ms. */
  readonly int: RawBuilder<unknown>;
  readonly real: RawBuilder<unknown>;
  /** Compared byte by byte on both engines; JSON is text. */
  readonly text: RawBuilder<unknown>;
  readonly bytes: RawBuilder<unknown>;
  /** Goes after the closing parenthesis of every `create table`. */
  readonly tableEnd: RawBuilder<unknown>;
  /** Makes the function `now_ms` (see `now.ts`) in the database; `undefined` where each connection brings it along. */
  readonly nowFunction: RawBuilder<unknown> | undefined;
}

/** A connected engine before its tables are known to be there; `openStore` turns it into a `Store`. */
export interface OpenedEngine {
  readonly engine: Engine;
  readonly db: Db;
  readonly words: MigrationWords;
  /** One transaction that no other node can be inside at the same time. */
  exclusively<T>(work: (db: Db) => Promise<T>): Promise<T>;
  readonly commit: Store['commit'];
  readonly subscribe: Store['subscribe'];
  readonly newsAgeMs: Store['newsAgeMs'];
  /** Begins to hear of other nodes, once the tables are there. Resolves when it does, or when it cannot for now. */
  listen(): Promise<void>;
  close(): Promise<void>;
}
