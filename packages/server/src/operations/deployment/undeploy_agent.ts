import type { Deployer, UndeployRefusal } from '../../agents/deployment/deployer.ts';
import type { OperationHandler } from '../bind.ts';

const WHY: Readonly<Record<UndeployRefusal, (version: number) => string>> = {
  'has-conversations': version =>
    `Conversations still run with version ${version}; endConversations ends them.`,
  'has-turns-at-work': version =>
    `An agent of version ${version} is at work just now; try again when its turn is over.`,
};

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
      error: WHY[outcome](version),
    };
  };
}
