import { setImmediate } from 'node:timers/promises';
import type { TestPlatform } from '@patchbay/testing/platform';
import { type Clock, systemClock } from '../../../packages/server/src/kernel/clock.ts';
import { listChainedEvents } from '../../../packages/server/src/store/tables/audit-events.ts';

const MINUTE_MS = 60_000;

/** A clock whose minutes a test may end: what waits for one to be over does so at once, and nothing gets older. */
export function createMinuteClock(): Clock & { endMinute(): void } {
  const sleepers = new Set<AbortController>();
  return {
    now: systemClock.now,
    async sleep(ms, signal) {
      if (ms !== MINUTE_MS) return systemClock.sleep(ms, signal);
      const woken = new AbortController();
      sleepers.add(woken);
      try {
        await systemClock.sleep(ms, AbortSignal.any([woken.signal, ...(signal ? [signal] : [])]));
      } catch (error) {
        if (!woken.signal.aborted) throw error;
      } finally {
        sleepers.delete(woken);
      }
    },
    endMinute() {
      for (const woken of sleepers) woken.abort();
    },
  };
}

/** What the audit trail has about refusals, each written down by its own: no minute is so long that they are counted together. */
export interface Trail {
  /** The place of the last event, when all that was noted is written. */
  end(): Promise<number>;
  /** `door: reason` of who was let in nowhere, `operation: reason` of who may not do something; those after `place`. */
  refusedSince(place: number): Promise<string[]>;
}

export function createTrail({ platform }: TestPlatform, clock: { endMinute(): void }): Trail {
  const { store } = platform;

  /** What is written in the order of its units is there when a later unit is. */
  async function settle(): Promise<void> {
    clock.endMinute();
    await setImmediate();
    await store.commit(async () => {});
  }

  async function eventsSince(place: number) {
    await settle();
    return listChainedEvents(store.db, place, 10_000);
  }

  return {
    end: async () => (await eventsSince(0)).at(-1)?.seq ?? 0,
    async refusedSince(place) {
      const events = await eventsSince(place);
      return events
        .filter(({ outcome }) => outcome === 'refused')
        .map(({ operation, subject }) => {
          const { door, reason } = JSON.parse(subject) as { door?: string; reason?: string };
          return `${operation === 'access_refused' ? door : operation}: ${reason}`;
        });
    },
  };
}
