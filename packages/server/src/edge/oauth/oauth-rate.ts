import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';
import { networkOf } from '../http/network-of.ts';

/** What costs a row or a request elsewhere each time, and anybody may ask for. */
export type Counted = 'register' | 'authorize' | 'document';

export interface OAuthRate {
  /** False when those of this minute are used up: the address's own, or those of all together. */
  admits(what: Counted, address: string | undefined): Promise<boolean>;
}

const WINDOW_S = 60;
/** A minute, on one node. Behind a proxy everybody has its address, so one address may do much. */
const LIMITS: Readonly<Record<Counted, { readonly each: number; readonly all: number }>> = {
  register: { each: 60, all: 300 },
  authorize: { each: 120, all: 1_200 },
  document: { each: 30, all: 30 },
};

export function createOAuthRate(): OAuthRate {
  const limiters = Object.fromEntries(
    Object.entries(LIMITS).map(([what, { each, all }]) => [
      what,
      {
        each: new RateLimiterMemory({ points: each, duration: WINDOW_S }),
        all: new RateLimiterMemory({ points: all, duration: WINDOW_S }),
      },
    ]),
  );
  return {
    async admits(what, from = '') {
      const { each, all } = limiters[what]!;
      const address = networkOf(from);
      // Who has used up their own takes nothing from the others.
      const used = await each.get(address);
      if (used && used.consumedPoints >= LIMITS[what].each) return false;
      // All together first: no more addresses are remembered than are let in.
      return (await counts(all, 'all')) && counts(each, address);
    },
  };
}

function counts(limiter: InstanceType<typeof RateLimiterMemory>, name: string): Promise<boolean> {
  return limiter.consume(name).then(
    () => true,
    () => false,
  );
}
