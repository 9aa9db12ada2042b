import type { Deployments } from '../../agents/deployment/deployments.ts';
import type { OperationHandler } from '../bind.ts';

export function listAgents(deployments: Deployments): OperationHandler<'list_agents'> {
  return (input, { principal }) => deployments.listAgents(principal, input);
}
