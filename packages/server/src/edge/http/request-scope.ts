import type { Logger } from '../../kernel/logger.ts';

/** What belongs to one HTTP request, made before any route runs. */
export interface RequestScope {
  readonly traceId: string;
  readonly log: Logger;
  /** A loopback peer without `Origin` and without forwarding headers. */
  readonly local: boolean;
  /** See `OpenCredentials.moment`. */
  readonly since: number;
}

/** What Hono carries from the first middleware to the routes. */
export type ScopedEnv = { Variables: { scope: RequestScope } };
