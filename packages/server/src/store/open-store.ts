import { type Clock, systemClock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import { openPostgres } from './engines/postgres.ts';
import { openSqlite } from './engines/sqlite.ts';
import { migrate } from './migrations/migrations.ts';
import type { Store } from './store.ts';
import { refusesInsideUnit } from './unit-scope.ts';

export type StoreOptions =
  | {
      readonly kind: 'sqlite';
      /** Path of the database file, made when missing, or `:memory:`. */
      readonly file: string;
      /** Leases are compared with it; the system's unless a test owns the time. */
      readonly clock?: Clock;
    }
  | {
      readonly kind: 'postgres';
      readonly url: string;
      /** Made when missing; without it the server's default applies. */
      readonly schema?: string;
    };

/**
 * Connects, brings the tables up to date and hands out the store.
 * Rejects with a `PlatformError` when the database cannot be reached, is of a kind we refuse, or is newer than this program.
 */
export async function openStore(
  options: StoreOptions,
  { logger }: { readonly logger?: Logger } = {},
): Promise<Store> {
  const opened =
    options.kind === 'sqlite'
      ? openSqlite({ file: options.file, clock: options.clock ?? systemClock, logger })
      : await openPostgres({ ...options, clock: systemClock, logger });
  try {
    await migrate(opened);
    await opened.listen();
  } catch (error) {
    await opened.close();
    throw error;
  }
  return {
    engine: opened.engine,
    db: opened.db.withPlugin(refusesInsideUnit),
    commit: opened.commit,
    subscribe: opened.subscribe,
    newsAgeMs: opened.newsAgeMs,
    close: opened.close,
  };
}
