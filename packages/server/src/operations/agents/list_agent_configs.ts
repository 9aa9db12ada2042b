import type { Catalogue } from '../../agents/deployment/catalogue.ts';
import type { OperationHandler } from '../bind.ts';
import { shownDescriptor } from '../documents/descriptor.ts';

export function listAgentConfigs(catalogue: Catalogue): OperationHandler<'list_agent_configs'> {
  return async (input, { principal }) => {
    const agents = await catalogue.listConfigurations(principal, input);
    return { count: agents.length, configs: agents.map(agent => shownDescriptor(agent)) };
  };
}
