import type { Clock } from '../kernel/clock.ts';

/**
 * How long a row is believed without being read again. News drops it at once; this is how long access that was taken away on
 * another node lasts here while news of it does not arrive.
 */
export const BELIEVED_MS = 1_000;
const MAX_ROWS = 4_000;

/** Rows that every request asks for. Remembers only what is there, so guesses at ids take no room. */
export interface RowCache<T> {
  /** What was read within the last second and not forgotten since. */
  recall(id: string): T | undefined;
  /** Asks the tables, and remembers the answer. */
  read(id: string): Promise<T | undefined>;
  forget(isChanged: (row: T) => boolean): void;
}

export function createRowCache<T extends object>(
  clock: Pick<Clock, 'now'>,
  load: (id: string) => Promise<T | undefined>,
): RowCache<T> {
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
      return age >= 0 && age < BELIEVED_MS ? known.row : undefined;
    },

    async read(id) {
      const readAt = clock.now();
      const newsBefore = news;
      const row = await load(id);
      rows.delete(id);
      if (row && news === newsBefore) {
        if (rows.size >= MAX_ROWS) rows.delete(rows.keys().next().value!);
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
