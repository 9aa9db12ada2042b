import type { OwnAgent } from '../../agents/deployment/own-agents.ts';

/** An agent in the words of BX-27. */
export function ownAgent(agent: OwnAgent) {
  return {
    id: agent.id,
    instanceId: agent.instanceId,
    name: agent.name,
    displayName: agent.name,
    description: agent.description,
    slug: agent.id,
    status: agent.state,
    ...(agent.version !== undefined && { version: agent.version }),
    mcpEnabled: agent.mcpEnabled,
    mcp_enabled: agent.mcpEnabled,
    visibility: 'private' as const,
    createdOn: agent.createdAt,
  };
}
