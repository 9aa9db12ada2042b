import type { Catalogue } from '../../agents/deployment/catalogue.ts';
import type { Triggers } from '../../agents/trigger/triggers.ts';
import type { OperationHandler } from '../bind.ts';

export function discoverAgents(
  catalogue: Catalogue,
  triggers: Triggers,
): OperationHandler<'discover_agents'> {
  return async (input, { principal }) => {
    const deployed = await catalogue.discover(principal, input);
    const intents = await triggers.intentsOf(deployed.map(({ agentId }) => agentId));
    const agents = deployed.map(({ agentId, agentVersion, status, environment, descriptor }) => {
      const known = intents.get(agentId);
      return {
        agentId,
        name: descriptor.name,
        description: descriptor.description,
        version: agentVersion,
        status,
        environment,
        ...(known && { intents: [...known] }),
      };
    });
    return { count: agents.length, agents };
  };
}
