import type { OwnAgent } from '../../agents/deployment/own-agents.ts';
import { isSharedWith } from '../../kernel/access.ts';
import type { Principal } from '../../kernel/principal.ts';

/** An agent in the words of BX-27. */
export function ownAgent(agent: OwnAgent, principal: Principal) {
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
    visibility: visibilityOf(agent),
    shared: agent.ownerId !== principal.id && isSharedWith(principal, agent),
    createdOn: agent.createdAt,
  };
}

function visibilityOf({ sharedWith }: OwnAgent) {
  if (sharedWith.length === 0) return 'private' as const;
  return sharedWith.includes('everyone') ? ('public' as const) : ('shared' as const);
}
