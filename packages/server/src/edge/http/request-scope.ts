import type { Logger } from '../../kernel/logger.ts';
import type { Principal } from '../../kernel/principal.ts';

/** What belongs to one HTTP request, made before any route runs. */
export interface RequestScope {
  readonly traceId: string;
  readonly log: Logger;
  /** A loopback peer without `Origin` and without forwarding headers. */
  readonly local: boolean;
  principal?: Principal;
}
