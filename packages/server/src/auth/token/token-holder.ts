import type { Clock } from '../../kernel/clock.ts';
import type { Principal } from '../../kernel/principal.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';
import type { RefusalSubject } from '../../records/audit/refusals.ts';
import type { Rows } from '../access-rows.ts';
import type { TokenClaims } from './access-token.ts';

export type HolderRefusal = {
  readonly reason:
    | 'unknown-grant'
    | 'revoked-grant'
    | 'expired-grant'
    | 'other-grant'
    | 'unknown-person'
    | 'disabled-person';
  readonly subject: RefusalSubject;
};

/**
 * Who a token of ours stands for now: what its person has allowed the client and not taken back, with the roles the person has. The
 * client's sessions are bound to the grant, so a token that was refreshed goes on with them (attack 17).
 */
export async function tokenHolder(
  rows: Rows,
  claims: TokenClaims,
  door: 'operator' | 'agents',
  clock: Pick<Clock, 'now'>,
): Promise<Outcome<Principal, HolderRefusal>> {
  const { userId, clientId, grantId, scopes } = claims;
  const subject = { userId, via: 'token', grantId };
  const grant = await rows.grant(grantId);
  const person = await rows.person(userId);
  if (!grant) return refused({ reason: 'unknown-grant', subject });
  if (grant.revokedAt !== undefined) return refused({ reason: 'revoked-grant', subject });
  if (grant.expiresAt <= clock.now()) return refused({ reason: 'expired-grant', subject });
  if (grant.userId !== userId || grant.clientId !== clientId || grant.door !== door)
    return refused({ reason: 'other-grant', subject });
  if (!person) return refused({ reason: 'unknown-person', subject });
  if (person.disabled) return refused({ reason: 'disabled-person', subject });
  return granted({
    id: person.id,
    roles: new Set(person.roles),
    via: 'token',
    credential: `grant:${grantId}`,
    agents: door === 'agents' ? { kind: 'granted', agentIds: new Set(grant.agentIds) } : { kind: 'shared' },
    ...(door === 'operator' && readsOnly(scopes) && { readsOnly: true }),
  });
}

/** Asked for explicitly: a client that names no scope of ours is told nothing of them, and gets what its person may do. */
function readsOnly(scopes: ReadonlySet<string>): boolean {
  return scopes.has('operator:read') && !scopes.has('operator');
}
