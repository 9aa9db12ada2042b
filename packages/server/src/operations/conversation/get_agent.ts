import type { Deployments } from '../../agents/deployment/deployments.ts';
import type { OperationHandler } from '../bind.ts';

export function getAgent(deployments: Deployments): OperationHandler<'get_agent'> {
  return (input, { principal }) => deployments.getAgent(principal, input);
}
