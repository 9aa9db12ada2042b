import type { ApplyChanges } from '../../agents/configuration/apply-changes.ts';
import type { Deployer } from '../../agents/deployment/deployer.ts';
import type { OperationHandler } from '../bind.ts';
import { parseJsonArgument } from '../json-argument.ts';
import { redeployed } from './redeployed.ts';

export function applyAgentChanges(
  apply: ApplyChanges,
  deployer: Deployer,
): OperationHandler<'apply_agent_changes'> {
  return async ({ agentId, agentVersion, resourceMappings, redeploy, environment, compatible }, call) => {
    const mappings = parseJsonArgument('resourceMappings', resourceMappings);
    const applied = await apply(call.principal, { agentId, agentVersion, mappings, compatible });
    const answer = {
      agentId,
      previousAgentVersion: applied.previousVersion,
      newAgentVersion: applied.newVersion,
      updatedWorkflows: applied.updatedWorkflows,
      totalWorkflows: applied.totalWorkflows,
      mappingsApplied: applied.matched.length,
      matched: [...applied.matched],
      unmatched: [...applied.unmatched],
    };
    if (applied.newVersion === applied.previousVersion) {
      const reason =
        applied.unmatched.length === 0
          ? 'The agent has these references already, or none was given.'
          : 'No workflow of the agent names any of the old references.';
      return { ...answer, action: 'no_changes', reason };
    }
    const version = applied.newVersion;
    const deployment = await redeployed(deployer, { agentId, version, environment, redeploy }, call);
    return { ...answer, ...deployment, action: 'cascaded' };
  };
}
