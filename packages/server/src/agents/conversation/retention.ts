import type { Clock } from '../../kernel/clock.ts';
import type { Store } from '../../store/store.ts';
import { deleteEndedConversations, endIdleConversations } from '../../store/tables/conversations.ts';

const DAY_MS = 86_400_000;

/**
 * Ends conversations nobody has gone on with for `idleDays`, and deletes what has been over for `keepEndedDays` (platform.md
 * 1.7); 0 leaves them. In parts, so that no turn waits for it. A conversation that waits for a person is left alone.
 */
export async function retireConversations(
  deps: {
    readonly store: Store;
    readonly clock: Clock;
    readonly idleDays: number;
    readonly keepEndedDays: number;
  },
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, idleDays, keepEndedDays } = deps;
  for (const [days, retire] of [
    [idleDays, endIdleConversations],
    [keepEndedDays, deleteEndedConversations],
  ] as const) {
    if (days === 0) continue;
    const before = clock.now() - days * DAY_MS;
    while (!signal.aborted && !(await store.commit(db => retire(db, before))));
  }
}
