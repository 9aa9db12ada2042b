import { isAdmin, type Principal } from '../../kernel/principal.ts';
import type { AgentScope } from '../../store/tables/agents.ts';

/**
 * Whose things a caller may reach. `own`: only what is theirs, whatever their role, as at the agent door (B-15).
 * `own-or-admin`: an admin also reaches everybody else's.
 */
export type Access = 'own' | 'own-or-admin';

/** May this principal use the agent: its owner, an admin where admins may, or a credential for exactly this agent. */
export function mayUseAgent(
  principal: Principal,
  access: Access,
  agent: { readonly agentId: string; readonly ownerId: string },
): boolean {
  if (principal.agents.kind === 'one') return principal.agents.agentId === agent.agentId;
  return agent.ownerId === principal.id || (access === 'own-or-admin' && isAdmin(principal));
}

/** The same rule for lists. */
export function agentScopeOf(principal: Principal): AgentScope {
  if (principal.agents.kind === 'one') return { kind: 'one', agentId: principal.agents.agentId };
  return isAdmin(principal) ? { kind: 'all' } : { kind: 'owned', ownerId: principal.id };
}

/** May this principal reach the conversation: its owner, or an admin where admins may. */
export function mayUseConversation(principal: Principal, access: Access, ownerId: string): boolean {
  return ownerId === principal.id || (access === 'own-or-admin' && isAdmin(principal));
}
