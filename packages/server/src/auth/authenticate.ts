import { createHash, timingSafeEqual } from 'node:crypto';
import type { KeyScope } from '@patchbay/contract/operations/keys';
import { ROLES, type Role } from '@patchbay/contract/roles';
import { mayUseAgent } from '../kernel/access.ts';
import type { Clock } from '../kernel/clock.ts';
import { isAdmin, type Principal } from '../kernel/principal.ts';
import { granted, type Outcome, refused } from '../kernel/result.ts';
import type { RefusalSubject } from '../records/audit/refusals.ts';
import type { Store } from '../store/store.ts';
import type { DescribedAgent } from '../store/tables/agents.ts';
import { createDecide, type Key, type Rows } from './access-rows.ts';
import { type CredentialHeaders, readCredential } from './credential.ts';
import { hashKeyToken } from './key/key-token.ts';
import type { AccessTokens, TokenClaims, TokenRefusal } from './token/access-token.ts';
import { type Realm, type RealmRefusal, realmHolder } from './token/realm.ts';
import { type HolderRefusal, tokenHolder } from './token/token-holder.ts';

/** Why nobody was let in. The reason goes to the log; callers of one door all get the same answer. */
export type AuthRefusal = {
  readonly reason:
    | 'no-credential'
    | 'bad-credential'
    | 'unknown-key'
    | 'expired-key'
    | 'revoked-key'
    | 'wrong-scope'
    | 'operator-keys-forbidden'
    | 'wrong-door'
    | 'other-agent'
    | 'unknown-agent'
    | 'not-mcp-enabled'
    | 'not-owner'
    | TokenRefusal['reason']
    | RealmRefusal['reason']
    | HolderRefusal['reason'];
  /** Ids of who asked, where the credential says so. */
  readonly subject?: RefusalSubject;
};

export type AuthOutcome = Outcome<Principal, AuthRefusal>;
export type AgentOutcome = Outcome<
  { readonly principal: Principal; readonly agent: DescribedAgent },
  AuthRefusal
>;

/** The parts of a request that say who is asking. */
export interface AuthRequest extends CredentialHeaders {
  /** A loopback peer, without `Origin` and without forwarding headers: only such may use the local owner's token. */
  readonly local: boolean;
}

/**
 * Who may come in. The rows behind it are remembered, and dropped at once when news says that they changed, on whichever
 * node.
 */
export interface Authenticator {
  /**
   * Operator door: the local owner, a token for this door, or a user key with the `operator` scope; anybody with authentication
   * off (E-49).
   */
  operatorDoor(request: AuthRequest): Promise<AuthOutcome>;
  /** REST: as the operator door, but never open (one-system.md 7). */
  rest(request: AuthRequest): Promise<AuthOutcome>;
  /**
   * The REST routes beside the agent door: as `rest`, and a user key with the scope `agents` alone, which carries no power of an
   * admin. An agent key opens none of them (one-system.md 7).
   */
  restBesideAgents(request: AuthRequest): Promise<AuthOutcome>;
  /** Agent door: the token or key must open exactly this agent, which must be MCP-enabled (B-12 to B-24, B-75). */
  agentDoor(agentId: string, request: AuthRequest): Promise<AgentOutcome>;
}

const ANONYMOUS: Principal = {
  id: 'anonymous',
  roles: new Set(ROLES),
  via: 'anonymous',
  credential: 'none',
  agents: { kind: 'own' },
};

export function createAuthenticator(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly tokens: AccessTokens;
  /** Trusted at the operator door instead of ourselves. */
  readonly realm: Realm | undefined;
  readonly authOff: boolean;
  /** Do keys open the operator door and REST at all? */
  readonly operatorKeys: boolean;
  /** Told of every key that has opened something. */
  readonly onKeyUsed: (keyId: string) => void;
  readonly localOwner: { readonly token: string; readonly userId: string; readonly roles: readonly Role[] };
}): Authenticator {
  const { store, clock, tokens, realm, authOff, localOwner } = deps;
  const localOwnerDigest = digest(localOwner.token);

  const decide = createDecide({ store, clock });

  /** The checks every key passes, whatever the door; one of the scopes is enough. */
  async function checkKey(
    rows: Rows,
    token: string,
    scopes: readonly KeyScope[],
  ): Promise<Outcome<Key, AuthRefusal>> {
    const key = await rows.key(hashKeyToken(token));
    if (!key) return refused({ reason: 'unknown-key' });
    if (key.revokedAt !== undefined) return refused({ reason: 'revoked-key', subject: subjectOf(key) });
    if (key.expiresAt !== undefined && key.expiresAt <= clock.now())
      return refused({ reason: 'expired-key', subject: subjectOf(key) });
    if (key.ownerDisabled) return refused({ reason: 'disabled-person', subject: subjectOf(key) });
    const opening = deps.operatorKeys ? key.scopes : key.scopes.filter(scope => scope !== 'operator');
    if (!scopes.some(scope => opening.includes(scope))) {
      const isForbidden = scopes.some(scope => key.scopes.includes(scope));
      const reason = isForbidden ? 'operator-keys-forbidden' : 'wrong-scope';
      return refused({ reason, subject: subjectOf(key) });
    }
    deps.onKeyUsed(key.id);
    return granted(opening === key.scopes ? key : { ...key, scopes: opening });
  }

  async function openByKey(rows: Rows, token: string, agentId: string): Promise<AgentOutcome> {
    const checked = await checkKey(rows, token, ['agents']);
    if (!checked.ok) return checked;
    const key = checked.value;
    const subject = subjectOf(key);
    if (key.kind === 'agent' && key.agentId !== agentId) return refused({ reason: 'other-agent', subject });
    // An agent key opens what the person it was made for may use, and no longer than they may.
    const opened = await openAgent(rows, userPrincipal(key), agentId, subject);
    if (!opened.ok || key.kind === 'user') return opened;
    return granted({ principal: agentKeyPrincipal(key, agentId), agent: opened.value.agent });
  }

  async function openByToken(rows: Rows, claims: TokenClaims, agentId: string): Promise<AgentOutcome> {
    const holder = await tokenHolder(rows, claims, 'agents', clock);
    if (!holder.ok) return holder;
    const { audience, userId, grantId } = claims;
    const subject = { userId, via: 'token', grantId };
    const isMeant = audience.door === 'agents' || (audience.door === 'agent' && audience.agentId === agentId);
    if (!isMeant) return refused({ reason: 'other-audience', subject });
    return openAgent(rows, holder.value, agentId, subject);
  }

  /** What is left to ask once it is known who is there: may they use this agent, and may anybody at this door? */
  async function openAgent(
    rows: Rows,
    principal: Principal,
    agentId: string,
    subject: RefusalSubject,
  ): Promise<AgentOutcome> {
    const agent = await rows.agent(agentId);
    if (!agent) return refused({ reason: 'unknown-agent', subject });
    const known = { ...subject, agentId };
    if (!mayUseAgent(principal, 'own', agent)) return refused({ reason: 'not-owner', subject: known });
    if (!agent.mcpEnabled) return refused({ reason: 'not-mcp-enabled', subject: known });
    return granted({ principal, agent });
  }

  /** A token for the operator door (one-system.md 7). */
  async function byToken(token: string): Promise<AuthOutcome> {
    if (realm) {
      const known = await realm.read(token);
      return known.ok ? decide(rows => realmHolder(rows, known.value)) : known;
    }
    const read = await tokens.read(token, 'operator');
    if (!read.ok) return read;
    const claims = read.value;
    if (claims.audience.door !== 'operator') return refused({ reason: 'other-audience' });
    return decide(rows => tokenHolder(rows, claims, 'operator', clock));
  }

  /** The local owner, a token for the operator door, or a user key with one of the scopes. */
  async function person(request: AuthRequest, scopes: readonly KeyScope[]): Promise<AuthOutcome> {
    const presented = readCredential(request);
    switch (presented.kind) {
      case 'none':
        return refused({ reason: 'no-credential' });
      case 'bad':
        return refused({ reason: 'bad-credential' });
      case 'agent-key':
        return refused({ reason: 'wrong-door' });
      case 'token':
        return byToken(presented.token);
      case 'opaque': {
        const isLocalOwner = timingSafeEqual(digest(presented.token), localOwnerDigest);
        if (!isLocalOwner || !request.local) return refused({ reason: 'bad-credential' });
        return granted({
          id: localOwner.userId,
          roles: new Set(localOwner.roles),
          via: 'cli',
          credential: 'local-owner',
          agents: { kind: 'shared' },
        });
      }
      case 'user-key': {
        const checked = await decide(rows => checkKey(rows, presented.token, scopes));
        if (!checked.ok) return checked;
        const key = checked.value;
        if (!key.scopes.includes('operator')) return granted(withoutAdmin(userPrincipal(key)));
        return granted({ ...userPrincipal(key), agents: { kind: 'shared' } });
      }
    }
  }

  return {
    async operatorDoor(request) {
      const outcome = await person(request, ['operator']);
      // A wrong credential stays wrong: the open mode is for callers that present none.
      if (authOff && !outcome.ok && outcome.refusal.reason === 'no-credential') return granted(ANONYMOUS);
      return outcome;
    },

    rest: request => person(request, ['operator']),
    restBesideAgents: request => person(request, ['agents', 'operator']),

    async agentDoor(agentId, request) {
      const presented = readCredential(request);
      if (presented.kind === 'none') return refused({ reason: 'no-credential' });
      if (presented.kind === 'bad' || presented.kind === 'opaque')
        return refused({ reason: 'bad-credential' });
      const { token } = presented;
      if (presented.kind !== 'token') return decide(rows => openByKey(rows, token, agentId));
      const read = await tokens.read(token, 'agents');
      return read.ok ? decide(rows => openByToken(rows, read.value, agentId)) : read;
    },
  };
}

function subjectOf({ id, kind, userId }: Key): RefusalSubject {
  return { userId, via: `${kind}-key`, keyId: id };
}

/** Opens what its owner owns, and what is shared with them where it was made for that (B-15, decisions.md 3). */
function userPrincipal(key: Key): Principal {
  return {
    id: key.userId,
    roles: new Set(key.ownerRoles),
    via: 'user-key',
    credential: key.id,
    agents: { kind: key.shared ? 'shared' : 'own' },
  };
}

/** Reaches what this person owns; what an admin reaches besides takes the scope `operator`. */
function withoutAdmin(principal: Principal): Principal {
  if (!isAdmin(principal)) return principal;
  const others = [...principal.roles].filter(role => role !== 'patchbay-admin');
  return { ...principal, roles: new Set<Role>([...others, 'patchbay-user']) };
}

/** Conversations begun with an agent key belong to the key, not to its owner; it has no role (one-system.md 7). */
function agentKeyPrincipal(key: Key, agentId: string): Principal {
  return {
    id: `key:${key.id}`,
    roles: new Set(),
    via: 'agent-key',
    credential: key.id,
    agents: { kind: 'one', agentId },
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
