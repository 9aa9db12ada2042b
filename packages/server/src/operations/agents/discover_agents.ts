import type { Catalogue } from '../../agents/deployment/catalogue.ts';
import type { OperationHandler } from '../bind.ts';

export function discoverAgents(catalogue: Catalogue): OperationHandler<'discover_agents'> {
  return async (input, { principal }) => {
    const deployed = await catalogue.discover(principal, input);
    const agents = deployed.map(({ agentId, agentVersion, status, environment, descriptor }) => ({
      agentId,
      name: descriptor.name,
      description: descriptor.description,
      version: agentVersion,
      status,
      environment,
    }));
    return { count: agents.length, agents };
  };
}
