import type { Catalogue } from '../../agents/deployment/catalogue.ts';
import type { OperationHandler } from '../bind.ts';
import { shownDescriptor } from '../documents/descriptor.ts';

export function listAgents(catalogue: Catalogue): OperationHandler<'list_agents'> {
  return async (input, { principal }) => {
    const deployed = await catalogue.listDeployed(principal, input);
    const agents = deployed.map(({ environment, agentId, agentVersion, status, descriptor }) => ({
      environment,
      agentId,
      agentVersion,
      status,
      descriptor: shownDescriptor(descriptor, agentVersion),
    }));
    return { count: agents.length, agents };
  };
}
