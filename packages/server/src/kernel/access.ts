import { isAdmin, isApprover, type Principal } from './principal.ts';

// Who may reach what. Every such decision is one of these functions, so that sharing changes this file only.

/**
 * Whose things a caller may reach. `own`: only what is theirs, whatever their role, as at the agent door (B-15).
 * `own-or-admin`: an admin also reaches everybody else's.
 */
export type Access = 'own' | 'own-or-admin';

/** The things of a list a caller may see. */
export type Scope = { readonly kind: 'all' } | { readonly kind: 'owned'; readonly ownerId: string };

interface Owned {
  readonly ownerId: string;
}

/** To talk to the agent and read about it: its owner, an admin where admins may, or a credential for exactly this agent. Of agents that were chosen, those only. */
export function mayUseAgent(
  principal: Principal,
  access: Access,
  agent: Owned & { readonly id: string },
): boolean {
  if (principal.agents.kind === 'one') return principal.agents.agentId === agent.id;
  if (principal.agents.kind === 'granted' && !principal.agents.agentIds.has(agent.id)) return false;
  return reaches(principal, access, agent.ownerId);
}

/** To deploy over the agent: its owner or an admin. */
export function mayChangeAgent(principal: Principal, agent: Owned): boolean {
  return reaches(principal, 'own-or-admin', agent.ownerId);
}

/** To read a document, change it and build on it: whoever it belongs to, or an admin. */
export function mayUseDocument(principal: Principal, document: Owned): boolean {
  return reaches(principal, 'own-or-admin', document.ownerId);
}

/** To change what an intent stands for: whoever made the trigger, or an admin. */
export function mayUseTrigger(principal: Principal, trigger: Owned): boolean {
  return reaches(principal, 'own-or-admin', trigger.ownerId);
}

/** To send a message as a user: that user, or an admin for them. */
export function mayTalkFor(principal: Principal, userId: string): boolean {
  return reaches(principal, 'own-or-admin', userId);
}

/** To make keys: a person who acts as themselves. A key that could make another would outlive its own end. */
export function mayMakeKeys(principal: Principal): boolean {
  return principal.via === 'cli';
}

/** To make a key that opens the agent: its owner and nobody for them, whatever their role (B-44). */
export function mayMakeKeyFor(principal: Principal, agent: Owned): boolean {
  return reaches(principal, 'own', agent.ownerId);
}

/** To read the conversation and go on with it: its owner, or an admin where admins may. */
export function mayUseConversation(
  principal: Principal,
  access: Access,
  conversation: { readonly userId: string },
): boolean {
  return reaches(principal, access, conversation.userId);
}

/** To follow and end what somebody had an agent do in the background, and to read its log: who asked for it and nobody else. */
export function mayUseDelivery(principal: Principal, delivery: Owned): boolean {
  return reaches(principal, 'own', delivery.ownerId);
}

/** To look at a file, send it along and remove it: its owner and nobody else, whatever their role. */
export function mayUseFile(principal: Principal, file: Owned): boolean {
  return reaches(principal, 'own', file.ownerId);
}

/** To see what the conversation waits for: who may decide it, themselves or through an agent. */
export function maySeePause(principal: Principal, conversation: { readonly userId: string }): boolean {
  return isApprover(principal) || reaches(principal, 'own-or-admin', conversation.userId);
}

/** To decide that: its owner, an admin or an approver (E-29), and nobody through a call that an agent makes (attack 29). */
export function mayDecide(principal: Principal, conversation: { readonly userId: string }): boolean {
  return principal.byAgent !== true && maySeePause(principal, conversation);
}

/** What waits for a decision, in lists: everything for whoever decides for others, else the own things. */
export function approvalScopeOf(principal: Principal): Scope {
  return isApprover(principal) ? { kind: 'all' } : scopeOf(principal);
}

/** Agents and conversations in lists: the own ones, for an admin all. A credential for one agent lists nothing. */
export function scopeOf(principal: Principal): Scope {
  return isAdmin(principal) ? { kind: 'all' } : { kind: 'owned', ownerId: principal.id };
}

/** To read what was done in a conversation that is gone, and so is nobody's any more: an admin. */
export function mayReadEveryTrail(principal: Principal): boolean {
  return isAdmin(principal);
}

/** To see why something failed on the server (E-24): an admin. Others hear that it failed, and what. */
export function maySeeLogDetails(principal: Principal): boolean {
  return isAdmin(principal);
}

/** To have a secret put into its configuration: an agent the secret is for, and any where it is for nobody in particular. */
export function agentMayUseSecret(
  agentId: string,
  secret: { readonly allowedAgents: readonly string[] },
): boolean {
  const { allowedAgents } = secret;
  return allowedAgents.length === 0 || allowedAgents.includes('*') || allowedAgents.includes(agentId);
}

/** Agents an agent may find by what they can do: those of its owner. */
export function scopeOfAgent(agent: Owned): Scope {
  return { kind: 'owned', ownerId: agent.ownerId };
}

function reaches(principal: Principal, access: Access, ownerId: string): boolean {
  return ownerId === principal.id || (access === 'own-or-admin' && isAdmin(principal));
}
