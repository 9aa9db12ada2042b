import type { Documents } from '../../agents/configuration/documents.ts';
import type { Deployer } from '../../agents/deployment/deployer.ts';
import type { OperationHandler } from '../bind.ts';
import { redeployed } from './redeployed.ts';

export function updateAgent(documents: Documents, deployer: Deployer): OperationHandler<'update_agent'> {
  return async ({ agentId, version: expectedVersion, name, description, redeploy, environment }, call) => {
    const { currentVersion: version } = await documents.rename(call.principal, {
      type: 'agent',
      id: agentId,
      expectedVersion,
      name,
      description,
    });
    const deployment = await redeployed(deployer, { agentId, version, environment, redeploy }, call);
    return { agentId, version, updated: true, ...deployment, action: 'updated' };
  };
}
