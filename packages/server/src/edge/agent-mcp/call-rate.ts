import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';
import type { Clock } from '../../kernel/clock.ts';

/** Calls each credential may make of each agent in a minute (B-73). */
export interface CallRate {
  /** Counts a call. False when those of this minute are used up. */
  admits(credential: string, agentId: string): Promise<boolean>;
  /** Milliseconds until the minute of a credential that is refused is over. */
  retryAfterMs(credential: string, agentId: string): Promise<number>;
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
 * at once; what was refused is not counted. Once a second a node tells the others what it let in, when it let in anything; what
 * could not be told goes with the next telling, unless its minute is over.
 */
export function createCallRate(deps: {
  /** 0 lets everything in. */
  readonly perMinute: number;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Tells all parts or, answering false, none. Must not reject. */
  readonly tell: (parts: readonly Readonly<Record<string, number>>[]) => Promise<boolean>;
}): CallRate {
  const { perMinute, clock, tell } = deps;
  if (perMinute === 0) {
    return { admits: async () => true, retryAfterMs: async () => 0, count: () => {}, close: () => {} };
  }
  const limiter = new RateLimiterMemory({ points: perMinute, duration: WINDOW_S });
  const closing = new AbortController();
  let untold = new Map<string, number>();
  let telling = false;

  function keep(name: string, count: number): void {
    untold.set(name, (untold.get(name) ?? 0) + count);
    if (!telling) void tellLater();
  }

  async function tellLater(): Promise<void> {
    telling = true;
    await clock.sleep(TELL_EVERY_MS, closing.signal).catch(() => {});
    if (closing.signal.aborted) return;
    const counts = [...untold];
    untold = new Map();
    const parts: Record<string, number>[] = [];
    for (let from = 0; from < counts.length; from += COUNTS_AN_EVENT) {
      parts.push(Object.fromEntries(counts.slice(from, from + COUNTS_AN_EVENT)));
    }
    const told = await tell(parts);
    telling = false;
    if (untold.size > 0) void tellLater();
    if (told) return;
    for (const [name, count] of counts) {
      if ((await limiter.get(name)) !== null) keep(name, count);
    }
  }

  return {
    async admits(credential, agentId) {
      const name = nameOf(credential, agentId);
      const admitted = await limiter.consume(name).then(
        () => true,
        () => false,
      );
      if (!admitted) return false;
      keep(name, 1);
      return true;
    },

    async retryAfterMs(credential, agentId) {
      const counted = await limiter.get(nameOf(credential, agentId));
      return counted?.msBeforeNext ?? 0;
    },

    count(calls) {
      for (const [name, count] of Object.entries(calls)) void limiter.penalty(name, count);
    },

    close: () => closing.abort(),
  };
}

function nameOf(credential: string, agentId: string): string {
  return `${credential} ${agentId}`;
}
