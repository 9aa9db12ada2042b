import type { KeyScope } from '@patchbay/contract/operations/keys';
import { mayMakeKeyFor } from '../../kernel/access.ts';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { newKeyId } from '../../kernel/ids.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Store } from '../../store/store.ts';
import { findAgent, lockAgent } from '../../store/tables/agents.ts';
import { insertKey, type KeyRecord, listActiveKeys, revokeKey } from '../../store/tables/keys.ts';
import { findPerson } from '../../store/tables/users.ts';
import { displayPrefix, hashKeyToken, newKeyToken } from './key-token.ts';

const DAY_MS = 86_400_000;
const OPERATOR_KEY_MAX_DAYS = 90;
const MAX_ACTIVE_AGENT_KEYS = 3;

export interface Keys {
  /**
   * Mints a user key. The token is in the answer and nowhere else. Rejects with `invalid` for an operator key that lives too long, with
   * `disabled` where there may be none, with `not_found` when there is no such person.
   */
  createUserKey(
    userId: string,
    request: {
      readonly name: string;
      readonly scopes: readonly KeyScope[];
      /** At the agent door also agents that others share with the person. */
      readonly shared?: boolean | undefined;
      readonly expiresInDays?: number | undefined;
    },
  ): Promise<MintedKey>;
  /**
   * Mints a key for one agent the principal owns (B-44). Rejects with a `PlatformError`: `agent_not_found` for any other
   * agent, also for an admin, `conflict` when the agent has as many active keys as it may.
   */
  createAgentKey(
    principal: Principal,
    request: {
      readonly agentId: string;
      readonly name: string;
      readonly expiresInDays?: number | undefined;
    },
  ): Promise<MintedKey>;
  list(userId: string): Promise<KeyRecord[]>;
  /** One of a person's, or without a person anybody's. Rejects with `not_found`. */
  revoke(userId: string | undefined, keyId: string): Promise<void>;
  /** Active keys of one agent the principal owns. Rejects with `agent_not_found` for any other agent. */
  listOfAgent(principal: Principal, agentId: string): Promise<KeyRecord[]>;
  /** Rejects with `agent_not_found` as `listOfAgent` does, and with `not_found` for a key of something else. */
  revokeOfAgent(
    principal: Principal,
    request: { readonly agentId: string; readonly keyId: string },
  ): Promise<void>;
}

export interface MintedKey {
  readonly token: string;
  readonly record: KeyRecord;
}

export function createKeys(deps: {
  readonly store: Store;
  readonly clock: Clock;
  /** May there be keys with the scope `operator`? */
  readonly operatorKeys: boolean;
}): Keys {
  const { store, clock } = deps;

  function mint(
    kind: 'user' | 'agent',
    fields: Pick<KeyRecord, 'userId' | 'agentId' | 'name' | 'scopes' | 'shared'>,
    days: number | undefined,
  ): MintedKey {
    const token = newKeyToken(kind);
    const createdAt = clock.now();
    const record: KeyRecord = {
      id: newKeyId(),
      kind,
      ...fields,
      hash: hashKeyToken(token),
      prefix: displayPrefix(token),
      createdAt,
      expiresAt: days === undefined ? undefined : createdAt + days * DAY_MS,
      revokedAt: undefined,
      lastUsedAt: undefined,
    };
    return { token, record };
  }

  async function ownedAgent(principal: Principal, agentId: string) {
    const agent = await findAgent(store.db, agentId);
    if (!agent || !mayMakeKeyFor(principal, agent)) throw notYourAgent(agentId);
    return agent;
  }

  return {
    async createUserKey(userId, request) {
      const opensOperatorDoor = request.scopes.includes('operator');
      if (opensOperatorDoor && !deps.operatorKeys) {
        throw new PlatformError(
          'disabled',
          'scopes: keys with the operator scope are not used here (PATCHBAY_KEYS_OPERATOR_SCOPE); sign in with an MCP client instead.',
        );
      }
      if (opensOperatorDoor && (request.expiresInDays ?? 0) > OPERATOR_KEY_MAX_DAYS) {
        throw new PlatformError(
          'invalid',
          `expiresInDays: a key with the operator scope lives ${OPERATOR_KEY_MAX_DAYS} days at the most.`,
        );
      }
      const days = request.expiresInDays ?? (opensOperatorDoor ? OPERATOR_KEY_MAX_DAYS : undefined);
      const minted = mint(
        'user',
        {
          userId,
          agentId: undefined,
          name: request.name,
          scopes: [...new Set(request.scopes)],
          shared: request.shared ?? false,
        },
        days,
      );
      await store.commit(async db => {
        if (!(await findPerson(db, userId)))
          throw new PlatformError('not_found', `userId: there is no person "${userId}".`);
        await insertKey(db, minted.record);
      });
      return minted;
    },

    async createAgentKey(principal, request) {
      return store.commit(async db => {
        // One at a time, or several that count at once would all find room.
        await lockAgent(db, request.agentId);
        const agent = await findAgent(db, request.agentId);
        if (!agent || !mayMakeKeyFor(principal, agent)) throw notYourAgent(request.agentId);
        const active = await listActiveKeys(db, {
          userId: agent.ownerId,
          agentId: agent.id,
          now: clock.now(),
        });
        if (active.length >= MAX_ACTIVE_AGENT_KEYS) {
          throw new PlatformError(
            'conflict',
            `Agent "${agent.id}" already has ${MAX_ACTIVE_AGENT_KEYS} active keys; revoke one first.`,
          );
        }
        const minted = mint(
          'agent',
          {
            userId: agent.ownerId,
            agentId: agent.id,
            name: request.name,
            scopes: ['agents'],
            shared: false,
          },
          request.expiresInDays,
        );
        await insertKey(db, minted.record);
        return minted;
      });
    },

    list: userId => listActiveKeys(store.db, { userId, now: clock.now() }),

    async revoke(userId, keyId) {
      const found = await store.commit(db => revokeKey(db, { id: keyId, userId, at: clock.now() }));
      if (!found)
        throw new PlatformError(
          'not_found',
          `keyId: ${userId === undefined ? 'there is' : 'you have'} no key "${keyId}".`,
        );
    },

    async listOfAgent(principal, agentId) {
      const { ownerId } = await ownedAgent(principal, agentId);
      return listActiveKeys(store.db, { userId: ownerId, agentId, now: clock.now() });
    },

    async revokeOfAgent(principal, { agentId, keyId }) {
      const { ownerId } = await ownedAgent(principal, agentId);
      const found = await store.commit(db =>
        revokeKey(db, { id: keyId, userId: ownerId, agentId, at: clock.now() }),
      );
      if (!found) throw new PlatformError('not_found', `keyId: agent "${agentId}" has no key "${keyId}".`);
    },
  };
}

function notYourAgent(agentId: string): PlatformError {
  return new PlatformError('agent_not_found', `agentId: you own no agent "${agentId}".`);
}
