import type { Deployer } from '../../agents/deployment/deployer.ts';
import type { OperationCall } from '../bind.ts';

type Request = Parameters<Deployer['deploy']>[1] & { readonly redeploy: boolean };

/** What an operation answers about the deployment it was asked to add. */
export async function redeployed(
  deployer: Deployer,
  { redeploy, ...wanted }: Request,
  { principal }: OperationCall,
) {
  if (!redeploy) return {};
  const { error } = await deployer.deploy(principal, wanted);
  return {
    redeployed: error === undefined,
    environment: wanted.environment,
    ...(error !== undefined && { deployError: error }),
  };
}
