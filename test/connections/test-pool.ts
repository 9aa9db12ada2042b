import type { HttpEndpoint } from '../../packages/server/src/connections/session/endpoint.ts';
import {
  createPool,
  type Pool,
  type PoolOptions,
} from '../../packages/server/src/connections/session/pool.ts';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import type { Logger } from '../../packages/server/src/kernel/logger.ts';
import { createSafeFetch } from '../../packages/server/src/kernel/safe-fetch.ts';

export const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => quiet,
};

/** A pool as the platform has it, that may reach this machine. */
export function testPool(overrides: Partial<PoolOptions> = {}): Pool & AsyncDisposable {
  const fetch = createSafeFetch({ allowPrivate: () => true });
  const pool = createPool({
    fetch,
    clock: systemClock,
    random: () => 0.5,
    logger: quiet,
    version: '0.0.0',
    startProgram: () => Promise.reject(new Error('no program runs here')),
    ...overrides,
  });
  return Object.assign(pool, {
    async [Symbol.asyncDispose]() {
      await pool.close();
      await fetch.close();
    },
  });
}

export function httpEndpoint(url: string, headers: Readonly<Record<string, string>> = {}): HttpEndpoint {
  return { kind: 'http', url, headers, hostFrom: 'operator', insecureTls: false };
}
