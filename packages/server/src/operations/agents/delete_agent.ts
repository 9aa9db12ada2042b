import type { DeleteAgent } from '../../agents/configuration/delete-agent.ts';
import type { OperationHandler } from '../bind.ts';

export function deleteAgent(remove: DeleteAgent): OperationHandler<'delete_agent'> {
  return async ({ agentId, version: expectedVersion, permanent, cascade }, { principal }) => {
    const { version, alsoDeleted } = await remove(principal, {
      agentId,
      expectedVersion,
      permanent,
      cascade,
    });
    return {
      agentId,
      version,
      permanent,
      cascade,
      deletedResources: alsoDeleted.map(({ type, id }) => `patchbay://${type}/${id}`),
      status: 200,
      action: 'deleted',
    };
  };
}
