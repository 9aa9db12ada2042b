import type { Grants } from '../../auth/server/grants.ts';
import type { OperationHandler } from '../bind.ts';

export function listGrants(grants: Grants): OperationHandler<'list_grants'> {
  return async (_input, { principal }) => {
    const records = await grants.list(principal.id);
    return {
      count: records.length,
      grants: records.map(({ id, clientId, clientName, door, agentIds, scope, createdAt, expiresAt }) => ({
        ...{ id, clientId, clientName, door, scope },
        ...(door === 'agents' && { agentIds: [...agentIds] }),
        createdOn: createdAt,
        expiresOn: expiresAt,
      })),
    };
  };
}
