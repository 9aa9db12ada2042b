import type { Deployer } from '../../agents/deployment/deployer.ts';
import type { OperationHandler } from '../bind.ts';

export function getDeploymentStatus(deployer: Deployer): OperationHandler<'get_deployment_status'> {
  return async (input, { principal }) => {
    const { version, status } = await deployer.status(principal, input);
    const { agentId, environment } = input;
    const httpStatus = status === 'NOT_FOUND' ? 404 : 200;
    return { agentId, version, environment, status, httpStatus, action: 'status_check' };
  };
}
