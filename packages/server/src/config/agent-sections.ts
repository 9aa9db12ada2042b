import { PlatformError } from '../kernel/errors.ts';

/** An agent that a configuration file says there is. What it may say is not looked at here. */
export interface AgentSection {
  /** `agents[0] in patchbay.config.json`: how errors name it. */
  readonly place: string;
  readonly value: unknown;
}

/** The member of the file that is no setting. */
export const AGENT_SECTION = 'agents';

/** Throws a `PlatformError` of kind `invalid` where it is no list. */
export function readAgentSections(
  file: Readonly<Record<string, unknown>>,
  shown: string,
): readonly AgentSection[] {
  const { [AGENT_SECTION]: agents = [] } = file;
  if (!Array.isArray(agents)) {
    throw new PlatformError(
      'invalid',
      `agents in ${shown} must be a list: [{ "agentId": "helper", "model": "provider:model" }].`,
    );
  }
  return agents.map((value: unknown, index) => ({ place: `agents[${index}] in ${shown}`, value }));
}
