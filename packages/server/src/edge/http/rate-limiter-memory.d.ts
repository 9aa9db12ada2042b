// The package loads the drivers' side of every store it knows: 5 MB and 40 ms at each start. Its memory store stands alone.
declare module 'rate-limiter-flexible/lib/RateLimiterMemory.js' {
  import type { RateLimiterMemory } from 'rate-limiter-flexible';

  const Memory: typeof RateLimiterMemory;
  export = Memory;
}
