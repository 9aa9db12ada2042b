import type { OwnAgents } from '../../agents/deployment/own-agents.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { OperationHandler } from '../bind.ts';
import { ownAgent } from './own-agent.ts';

export function changeOwnAgent(ownAgents: OwnAgents): OperationHandler<'change_own_agent'> {
  return async ({ agentId, mcp_enabled, mcpEnabled }, { principal }) => {
    const given = mcp_enabled ?? mcpEnabled;
    if (given === undefined) {
      throw new PlatformError('invalid', 'mcp_enabled: is missing; say true or false.');
    }
    if (mcpEnabled !== undefined && mcpEnabled !== given) {
      throw new PlatformError('invalid', 'mcpEnabled: does not agree with mcp_enabled; give one of them.');
    }
    return ownAgent(await ownAgents.change(principal, agentId, { mcpEnabled: given }), principal);
  };
}
