import { createHash } from 'node:crypto';
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js';
import { networkOf } from '../http/network-of.ts';

/** Tries to sign in within a minute, counted in memory of this node. */
export interface SignInRate {
  /** Counts a try. False when those of this minute are used up: of the address, or of what was typed as a name. */
  admits(tried: { readonly address: string | undefined; readonly login: string }): Promise<boolean>;
}

const WINDOW_S = 60;
/** Everybody behind one proxy or at one office has one address. */
const OF_ADDRESS = 60;
const OF_LOGIN = 10;

/** Keeps machines from having passwords hashed without end; guessing at one account is what its lock is for. */
export function createSignInRate(): SignInRate {
  const addresses = new RateLimiterMemory({ points: OF_ADDRESS, duration: WINDOW_S });
  const logins = new RateLimiterMemory({ points: OF_LOGIN, duration: WINDOW_S });
  const admitted = (counted: Promise<unknown>) =>
    counted.then(
      () => true,
      () => false,
    );
  return {
    async admits({ address, login }) {
      if (!(await admitted(addresses.consume(networkOf(address ?? ''))))) return false;
      // What was typed may be long.
      return admitted(logins.consume(createHash('sha256').update(login).digest('base64')));
    },
  };
}
