import { PlatformError } from '../../kernel/errors.ts';

/** One text for every agent that is not there or not for this caller. */
export function agentNotFound(agentId: string): PlatformError {
  return new PlatformError(
    'agent_not_found',
    `Agent "${agentId}" not found; discover_agents lists the ones you can use.`,
  );
}
