import type { Role } from '@patchbay/contract/roles';
import { isAdmin, isApprover, type Principal } from './principal.ts';

// Who may reach what. Every such decision is one of these functions, so that sharing changes this file only.

/**
 * Whose things a caller may reach. `own`: only what is theirs, whatever their role, as at the agent door (B-15).
 * `own-or-admin`: an admin also reaches everybody else's.
 */
export type Access = 'own' | 'own-or-admin';

/** The things of a list a caller may see. */
export type Scope = { readonly kind: 'all' } | { readonly kind: 'owned'; readonly ownerId: string };

/** Agents in lists of those one may talk to: besides what a `Scope` has, those shared with one of the grantees. */
export type AgentScope =
  | Scope
  | { readonly kind: 'usable'; readonly ownerId: string; readonly grantees: readonly string[] };

interface Owned {
  readonly ownerId: string;
}

interface Shareable extends Owned {
  readonly id: string;
  /** `everyone`, `user:<id>`, `role:<role>`; nobody but the owner when it is empty. */
  readonly sharedWith: readonly string[];
}

/**
 * To talk to the agent and be told its name: its owner, those it is shared with, an admin where admins may, or a credential for exactly
 * this agent. Which of them a credential opens, it says itself.
 */
export function mayUseAgent(principal: Principal, access: Access, agent: Shareable): boolean {
  const { agents } = principal;
  switch (agents.kind) {
    case 'one':
      return agents.agentId === agent.id;
    case 'own':
      return reaches(principal, access, agent.ownerId);
    case 'shared':
      return reaches(principal, access, agent.ownerId) || isSharedWith(principal, agent);
    case 'granted':
      return (
        agents.agentIds.has(agent.id) &&
        (reaches(principal, access, agent.ownerId) || isSharedWith(principal, agent))
      );
  }
}

/** To see what the agent is made of: its owner or an admin. Whoever may only use it sees none of its documents. */
export function mayReadConfiguration(principal: Principal, agent: Owned): boolean {
  return reaches(principal, 'own-or-admin', agent.ownerId);
}

/** To share the agent, and to see with whom it is shared: its owner or an admin. */
export function mayShareAgent(principal: Principal, agent: Owned): boolean {
  return reaches(principal, 'own-or-admin', agent.ownerId);
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
  return actsInPerson(principal);
}

/** To see somebody's keys, revoke them and, in person, make them one: whose they are, and an admin. */
export function mayManageKeysOf(principal: Principal, userId: string): boolean {
  return reaches(principal, 'own-or-admin', userId);
}

/** To let people in and say what they may: an admin who acts as themselves, for the same reason. */
export function mayLetPeopleIn(principal: Principal): boolean {
  return isAdmin(principal) && actsInPerson(principal);
}

/** To get an address that signs somebody in: that person, who acts as themselves. */
export function maySignInElsewhere(principal: Principal): boolean {
  return actsInPerson(principal);
}

/** At the command line of the machine, or signed in in a browser; not by an agent with their credential. */
function actsInPerson({ via, byAgent }: Principal): boolean {
  return (via === 'cli' || via === 'session') && byAgent !== true;
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

/** To answer what only the person in the conversation can, such as by signing in: they, and nobody for them (C8). */
export function mayAnswerInPerson(principal: Principal, conversation: { readonly userId: string }): boolean {
  return principal.byAgent !== true && reaches(principal, 'own', conversation.userId);
}

/** To end the wait for such an answer: they, or an admin. */
export function mayEndWaitFor(principal: Principal, conversation: { readonly userId: string }): boolean {
  return principal.byAgent !== true && reaches(principal, 'own-or-admin', conversation.userId);
}

/** What waits for a decision, in lists: everything for whoever decides for others, else the own things. */
export function approvalScopeOf(principal: Principal): Scope {
  return isApprover(principal) ? { kind: 'all' } : scopeOf(principal);
}

/** Agents and conversations in lists: the own ones, for an admin all. A credential for one agent lists nothing. */
export function scopeOf(principal: Principal): Scope {
  return isAdmin(principal) ? { kind: 'all' } : { kind: 'owned', ownerId: principal.id };
}

/** Agents in lists of those to talk to: the own ones and those shared with the caller, as far as their credential opens these; for an admin all. */
export function agentScopeOf(principal: Principal): AgentScope {
  const scope = scopeOf(principal);
  if (scope.kind === 'all' || principal.agents.kind !== 'shared') return scope;
  return { kind: 'usable', ownerId: scope.ownerId, grantees: granteesOf(principal) };
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

/** Agents that a person may let clients talk to at the agent door: the own ones and those shared with them, whatever their role. */
export function agentScopeForClients(person: Principal): AgentScope {
  return { kind: 'usable', ownerId: person.id, grantees: granteesOf(person) };
}

/** Everything a person may be called in a share. */
function granteesOf({ id, roles }: Principal): string[] {
  return ['everyone', `user:${id}`, ...[...roles].map(role => `role:${role}`)];
}

/** Is the agent shared with this caller, whoever owns it? */
export function isSharedWith(principal: Principal, { sharedWith }: Pick<Shareable, 'sharedWith'>): boolean {
  return sharedWith.length > 0 && granteesOf(principal).some(grantee => sharedWith.includes(grantee));
}

function reaches(principal: Principal, access: Access, ownerId: string): boolean {
  return ownerId === principal.id || (access === 'own-or-admin' && isAdmin(principal));
}

/**
 * Whose agents act as whoever talks to them, with `${caller:token}` and with their own credentials at servers: one's own, and those of an admin, who may do everything already. Anybody
 * else who writes an agent would get the rights of all who talk to it.
 */
export function mayActAsCaller(
  userId: string,
  owner: { readonly id: string; readonly roles: readonly Role[] },
): boolean {
  return owner.id === userId || owner.roles.includes('patchbay-admin');
}
