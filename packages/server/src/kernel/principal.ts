import type { Role } from '@patchbay/contract/roles';
import type { CallerToken } from './caller-token.ts';

/**
 * Who is asking, as a value. Doors make it from a credential; nothing below looks at a header (architecture, idea 8).
 */
export interface Principal {
  /** Owner of what this principal creates: a user id, or `key:<id>` for an agent key (one-system.md 7). */
  readonly id: string;
  readonly roles: ReadonlySet<Role>;
  /** How they came in; part of the audit trail. */
  readonly via: 'cli' | 'user-key' | 'agent-key' | 'token' | 'session' | 'anonymous';
  /** Names the credential, never its secret: sessions and rate limits are bound to it. */
  readonly credential: string;
  /** An agent makes this call, with a credential that it was given. */
  readonly byAgent?: boolean | undefined;
  /** The person has allowed the client to read, and no more. */
  readonly readsOnly?: boolean | undefined;
  /** What they came in with, where a turn may use it in their name; of a key of an agent, a page or the command line there is none. */
  readonly token?: CallerToken | undefined;
  /** Which agents the credential opens. */
  readonly agents: /** Those this person owns. */
    | { readonly kind: 'own' }
    /** Those this person owns, and those that others share with them. */
    | { readonly kind: 'shared' }
    /** Those of these that this person owns or that are shared with them: they were chosen when the client was allowed in (B-13). */
    | { readonly kind: 'granted'; readonly agentIds: ReadonlySet<string> }
    /** Exactly one. */
    | { readonly kind: 'one'; readonly agentId: string };
}

export function isAdmin(principal: Principal): boolean {
  return principal.roles.has('patchbay-admin');
}

export function isApprover(principal: Principal): boolean {
  return principal.roles.has('patchbay-approver');
}
