import type { OwnAgents } from '../../agents/deployment/own-agents.ts';
import type { OperationHandler } from '../bind.ts';

export function listInstances(ownAgents: OwnAgents): OperationHandler<'list_instances'> {
  return async (_input, { principal }) => {
    const found = await ownAgents.instances(principal);
    const instances = found.map(({ version, ...instance }) => ({
      ...instance,
      ...(version !== undefined && { version }),
      delivery_mode: 'push' as const,
    }));
    return { count: instances.length, instances };
  };
}
