import type { Catalogue } from '../../agents/deployment/catalogue.ts';
import type { OperationHandler } from '../bind.ts';

export function getAgent(catalogue: Catalogue): OperationHandler<'get_agent'> {
  return async (input, { principal }) => {
    const { descriptor, document } = await catalogue.getConfiguration(principal, input);
    return {
      agentId: document.id,
      version: document.version,
      name: descriptor.name,
      description: descriptor.description,
      configuration: document.body as Record<string, unknown>,
    };
  };
}
