import { parseRole, ROLES } from '@patchbay/contract/roles';
import { mayShareAgent } from '../../kernel/access.ts';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Db, Store } from '../../store/store.ts';
import { findAccountByLogin } from '../../store/tables/accounts.ts';
import { deleteShares, insertShare, listShares, type Share } from '../../store/tables/agent-shares.ts';
import { findAgent, lockAgent } from '../../store/tables/agents.ts';
import { findPerson } from '../../store/tables/users.ts';
import { agentNotFound } from './agent-not-found.ts';

/**
 * Whom agents are for besides their owners (decisions.md 3). Every function answers all shares of the agent, and rejects alike, with
 * `agent_not_found`, for agents that are not there and not for this caller to share.
 */
export interface Sharing {
  list(principal: Principal, agentId: string): Promise<Share[]>;
  /** `grantee` is `everyone`, `user:<id or login>` or `role:<role>`. Rejects with `not_found` when there is no such person or role, with `conflict` when there are as many shares as there may be. */
  share(principal: Principal, agentId: string, grantee: string): Promise<Share[]>;
  /** Ends a share; one that is not there is as good as ended. */
  unshare(principal: Principal, agentId: string, grantee: string): Promise<Share[]>;
}

/** They are read with the agent, and kept in memory where it is. */
const MAX_SHARES = 200;

export function createSharing(deps: { readonly store: Store; readonly clock: Pick<Clock, 'now'> }): Sharing {
  const { store, clock } = deps;

  async function requireShareable(db: Db, principal: Principal, agentId: string): Promise<void> {
    const agent = await findAgent(db, agentId);
    if (!agent || !mayShareAgent(principal, agent)) throw agentNotFound(agentId);
  }

  return {
    async list(principal, agentId) {
      await requireShareable(store.db, principal, agentId);
      return listShares(store.db, agentId);
    },

    async share(principal, agentId, grantee) {
      return store.commit(async db => {
        await lockAgent(db, agentId);
        await requireShareable(db, principal, agentId);
        const known = await storedGrantee(db, grantee);
        if (known === undefined) throw unknownGrantee(grantee);
        const shares = await listShares(db, agentId);
        if (shares.some(share => share.grantee === known)) return shares;
        if (shares.length >= MAX_SHARES) {
          throw new PlatformError(
            'conflict',
            `Agent "${agentId}" is shared ${MAX_SHARES} times already; share it with a role instead.`,
          );
        }
        await insertShare(db, { agentId, grantee: known, createdAt: clock.now() });
        return listShares(db, agentId);
      });
    },

    async unshare(principal, agentId, grantee) {
      return store.commit(async db => {
        await lockAgent(db, agentId);
        await requireShareable(db, principal, agentId);
        const shares = await listShares(db, agentId);
        const stored = await storedGrantee(db, grantee);
        // Also one that nobody would be shared with any more.
        const ended = shares.find(share => share.grantee === (stored ?? grantee));
        if (ended) await deleteShares(db, agentId, ended.grantee);
        return listShares(db, agentId);
      });
    },
  };
}

/** As it is stored: a person by id, also where they are named by login, a role by its own name. `undefined` where there is nobody of that name. */
async function storedGrantee(db: Db, grantee: string): Promise<string | undefined> {
  const [kind, name = ''] = grantee.split(':');
  if (kind === 'user') {
    const person = (await findPerson(db, name)) ?? (await findAccountByLogin(db, name.toLowerCase()));
    return person && `user:${person.id}`;
  }
  if (kind !== 'role') return grantee;
  const role = parseRole(name);
  return role && `role:${role}`;
}

/** A share with somebody who comes later would be theirs without anybody having meant them. */
function unknownGrantee(grantee: string): PlatformError {
  const [kind, name] = grantee.split(':');
  return new PlatformError(
    'not_found',
    kind === 'user'
      ? `with: there is no person "${name}".`
      : `with: there is no role "${name}"; roles are ${ROLES.join(', ')}.`,
  );
}
