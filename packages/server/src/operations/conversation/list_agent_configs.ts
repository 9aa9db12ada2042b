import type { Deployments } from '../../agents/deployment/deployments.ts';
import type { OperationHandler } from '../bind.ts';

export function listAgentConfigs(deployments: Deployments): OperationHandler<'list_agent_configs'> {
  return (input, { principal }) => deployments.listAgentConfigs(principal, input);
}
