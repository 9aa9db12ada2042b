import { type Clock, systemClock } from '../packages/server/src/kernel/clock.ts';

/** A clock that runs as usual, and that a test may put forward: whoever would have woken meanwhile wakes. */
export function createJumpingClock(): Clock & { jump(ms: number): void } {
  const sleepers = new Set<{ readonly until: number; readonly wake: () => void }>();
  let ahead = 0;
  const now = () => systemClock.now() + ahead;
  return {
    now,
    sleep(ms, signal) {
      const woken = new AbortController();
      const sleeper = { until: now() + ms, wake: () => woken.abort() };
      sleepers.add(sleeper);
      const asleep = systemClock.sleep(ms, AbortSignal.any([woken.signal, ...(signal ? [signal] : [])]));
      return asleep
        .catch(error => {
          if (!woken.signal.aborted) throw error;
        })
        .finally(() => sleepers.delete(sleeper));
    },
    jump(ms) {
      ahead += ms;
      for (const { until, wake } of [...sleepers]) if (until <= now()) wake();
    },
  };
}
