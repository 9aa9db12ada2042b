import type { Clock } from '../kernel/clock.ts';
import type { Store } from './store.ts';

/**
 * How long a row is believed after it was read, or after it was last certain that no news of it is missing. News drops it at
 * once; this is how long access that was taken away on another node lasts here while news does not arrive.
 */
export const BELIEVED_MS = 1_000;
/** A row that somebody changed past the platform is found changed after so long, unless the cache is told otherwise. */
export const READ_AGAIN_MS = 30_000;
const MAX_ROWS = 4_000;

/** Rows that are asked for all the time. Remembers only what is there, so guesses at ids take no room. */
export interface RowCache<T> {
  /** What was read, not forgotten since, and may still be believed. */
  recall(id: string): T | undefined;
  /** Asks the tables, and remembers the answer. */
  read(id: string): Promise<T | undefined>;
  forget(isChanged: (row: T) => boolean): void;
}

export function createRowCache<T extends object>(deps: {
  readonly clock: Pick<Clock, 'now'>;
  readonly store: Pick<Store, 'newsAgeMs'>;
  readonly load: (id: string) => Promise<T | undefined>;
  readonly maxRows?: number;
  readonly readAgainMs?: number;
}): RowCache<T> {
  const { clock, store, load, maxRows = MAX_ROWS, readAgainMs = READ_AGAIN_MS } = deps;
  /** In the order they were read: the first is the oldest. */
  const rows = new Map<string, { readonly row: T; readonly readAt: number }>();
  /** Counts the news: what was read before some and arrives after it may be old. */
  let news = 0;

  return {
    recall(id) {
      const known = rows.get(id);
      if (!known) return undefined;
      const age = clock.now() - known.readAt;
      // A clock that was set back makes no row younger than it is.
      if (age < 0 || age >= readAgainMs) return undefined;
      return Math.min(age, store.newsAgeMs()) < BELIEVED_MS ? known.row : undefined;
    },

    async read(id) {
      const readAt = clock.now();
      const newsBefore = news;
      const row = await load(id);
      rows.delete(id);
      if (row && news === newsBefore) {
        if (rows.size >= maxRows) rows.delete(rows.keys().next().value!);
        rows.set(id, { row, readAt });
      }
      return row;
    },

    forget(isChanged) {
      news += 1;
      for (const [id, { row }] of rows) if (isChanged(row)) rows.delete(id);
    },
  };
}
