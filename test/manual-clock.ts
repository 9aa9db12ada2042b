import type { Clock } from '../packages/server/src/kernel/clock.ts';

/** A clock whose sleepers wait until the test moves it. */
export function createManualClock(): Clock & {
  advance(ms: number): Promise<void>;
  /** How many sleep. */
  readonly waiting: number;
} {
  let now = 1_000_000;
  const sleepers = new Set<{ until: number; wake: () => void }>();
  return {
    get waiting() {
      return sleepers.size;
    },
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = { until: now + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        });
      }),
    async advance(ms) {
      now += ms;
      for (const sleeper of [...sleepers].filter(({ until }) => until <= now)) {
        sleepers.delete(sleeper);
        sleeper.wake();
      }
      await new Promise(resolve => setImmediate(resolve));
    },
  };
}
