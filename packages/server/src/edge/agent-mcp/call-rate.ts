import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';
import type { Clock } from '../../kernel/clock.ts';

/** Calls each credential may make of each agent in a minute (B-73). */
export interface CallRate {
  /** Counts a call. False when those of this minute are used up. */
  admits(credential: string, agentId: string): Promise<boolean>;
  /** Counts what another node let in. */
  count(calls: Readonly<Record<string, number>>): void;
  close(): void;
}

const WINDOW_S = 60;
/** How far apart nodes may be: in this time each lets in what is left of the minute's calls by its own count. */
const TELL_EVERY_MS = 1_000;
/** So many counts fit into one event, with the longest names there are. */
const COUNTS_AN_EVENT = 50;

/**
 * Counts in memory: no call waits for a write. A minute begins with the first call of a credential and ends for all its calls
 * at once; what was refused is not counted. Once a second a node tells the others what it let in, when it let in anything.
 */
export function createCallRate(deps: {
  /** 0 lets everything in. */
  readonly perMinute: number;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly tell: (calls: Readonly<Record<string, number>>) => void;
}): CallRate {
  const { perMinute, clock, tell } = deps;
  if (perMinute === 0) return { admits: async () => true, count: () => {}, close: () => {} };
  const limiter = new RateLimiterMemory({ points: perMinute, duration: WINDOW_S });
  const closing = new AbortController();
  let untold = new Map<string, number>();

  async function tellLater(): Promise<void> {
    await clock.sleep(TELL_EVERY_MS, closing.signal).catch(() => {});
    const counts = [...untold];
    untold = new Map();
    if (closing.signal.aborted) return;
    for (let from = 0; from < counts.length; from += COUNTS_AN_EVENT) {
      tell(Object.fromEntries(counts.slice(from, from + COUNTS_AN_EVENT)));
    }
  }

  return {
    async admits(credential, agentId) {
      const name = `${credential} ${agentId}`;
      const admitted = await limiter.consume(name).then(
        () => true,
        () => false,
      );
      if (!admitted) return false;
      if (untold.size === 0) void tellLater();
      untold.set(name, (untold.get(name) ?? 0) + 1);
      return true;
    },

    count(calls) {
      for (const [name, count] of Object.entries(calls)) void limiter.penalty(name, count);
    },

    close: () => closing.abort(),
  };
}
