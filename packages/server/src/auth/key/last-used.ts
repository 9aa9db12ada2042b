import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Store } from '../../store/store.ts';
import { noteKeysUsed } from '../../store/tables/keys.ts';

/** When keys were last used, to the minute. */
export interface LastUsed {
  /** Returns at once. */
  note(keyId: string): void;
  /** Writes what is not written yet. */
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;
/** More keys than that are not told apart within a minute. */
const MAX_KEYS = 10_000;

/** A request costs no write: a node writes once a minute, in one statement, which keys it has seen. */
export function createLastUsed(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
}): LastUsed {
  const { store, clock, logger } = deps;
  const closing = new AbortController();
  let used = new Set<string>();

  async function writeLater(): Promise<void> {
    await clock.sleep(MINUTE_MS, closing.signal).catch(() => {});
    if (!closing.signal.aborted) await write();
  }

  async function write(): Promise<void> {
    const ids = [...used];
    used = new Set();
    if (ids.length === 0) return;
    try {
      await store.commit(db => noteKeysUsed(db, ids, clock.now()), { mayBeLost: true });
    } catch (error) {
      logger.warn('When keys were last used could not be noted', { error });
    }
  }

  return {
    note(keyId) {
      if (used.has(keyId) || used.size >= MAX_KEYS) return;
      used.add(keyId);
      if (used.size === 1) void writeLater();
    },
    async close() {
      closing.abort();
      await write();
    },
  };
}
