import type { Triggers } from '../../agents/trigger/triggers.ts';
import type { OperationHandler } from '../bind.ts';

export function listAgentTriggers(triggers: Triggers): OperationHandler<'list_agent_triggers'> {
  return async (_input, { principal }) => {
    const found = await triggers.list(principal);
    return {
      count: found.length,
      triggers: found.map(({ intent, deployments }) => ({
        intent,
        agentDeployments: deployments.map(deployment => ({
          ...deployment,
          initialContext: { ...deployment.initialContext },
        })),
      })),
    };
  };
}
