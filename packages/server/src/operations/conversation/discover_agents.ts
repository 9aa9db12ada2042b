import type { Deployments } from '../../agents/deployment/deployments.ts';
import type { OperationHandler } from '../bind.ts';

export function discoverAgents(deployments: Deployments): OperationHandler<'discover_agents'> {
  return (input, { principal }) => deployments.discoverAgents(principal, input);
}
