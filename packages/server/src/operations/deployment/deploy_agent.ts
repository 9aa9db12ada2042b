import type { Deployer } from '../../agents/deployment/deployer.ts';
import type { OperationHandler } from '../bind.ts';

export function deployAgent(deployer: Deployer): OperationHandler<'deploy_agent'> {
  return async (input, { principal }) => {
    const { agentId, environment } = input;
    const { version, error } = await deployer.deploy(principal, input);
    const where = { agentId, version, environment, httpStatus: 200 };
    // An outcome and no refusal: an ordinary result (E-22).
    return error === undefined
      ? { ...where, deploymentStatus: 'READY', deployed: true, action: 'deployed' }
      : { ...where, deploymentStatus: 'ERROR', deployed: false, action: 'deploy_failed', error };
  };
}
