import type { Deployer } from '../../agents/deployment/deployer.ts';
import type { OperationHandler } from '../bind.ts';

export function undeployAgent(deployer: Deployer): OperationHandler<'undeploy_agent'> {
  return async (input, { principal }) => {
    const { agentId, environment, endConversations } = input;
    const { version, outcome } = await deployer.undeploy(principal, input);
    const where = { agentId, version, environment };
    if (outcome === 'undeployed') {
      return { ...where, endedConversations: endConversations, status: 200, action: 'undeployed' };
    }
    return {
      ...where,
      endedConversations: false,
      status: 409,
      action: 'undeploy_refused',
      error: `Conversations still run with version ${version}; endConversations ends them.`,
    };
  };
}
