import type { Clock } from '../../kernel/clock.ts';
import { sha256OfText } from '../../kernel/digest.ts';
import { Fault } from '../../kernel/errors.ts';
import type { Db, Store } from '../../store/store.ts';
import {
  CLIENT,
  countAuthorizationRecords,
  deleteAuthorizationRecord,
  deleteAuthorizationRecordsOfGrant,
  findAuthorizationRecord,
  putAuthorizationRecord,
  removeEndedAuthorizationRecords,
  removeOldestUnusedClient,
  useAuthorizationRecord,
} from '../../store/tables/authorization-records.ts';
import { findGrant, type GrantRecord, removeEndedGrants, revokeGrant } from '../../store/tables/grants.ts';
import type { Resources } from '../token/resource.ts';
import { hashOfClientSecret } from './client-auth.ts';

type Payload = Record<string, unknown>;

/** What the library asks of a store, for one kind of its things (its `Adapter`). */
export interface RecordsOfKind {
  upsert(id: string, payload: Payload, expiresIn?: number): Promise<void>;
  find(id: string): Promise<Payload | undefined>;
  findByUid(uid: string): Promise<undefined>;
  findByUserCode(code: string): Promise<undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
}

/** Errors of the library, which become answers of its endpoints. */
export interface RecordErrors {
  /** A code or a refresh token that was used up. */
  usedUp(): Error;
  /** A sign-in that has ended in another request. */
  alreadyAnswered(): Error;
  tooManyClients(): Error;
}

/** A refresh token that was rotated is answered once more for so long: two requests of one client that crossed (attack 10). */
const HONEST_RACE_MS = 10_000;
/** In place of a time: used after its rotation, too. */
const USED_AGAIN = 0;
const MAX_CLIENTS = 10_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longer than anything the library names, without a character that a database refuses. */
const ID = /^[\x21-\x7e]{1,2048}$/;
/** Ids that everybody may know. All others are secrets and kept as their hash. */
const OPEN_KINDS = new Set([CLIENT]);

/**
 * The store of the authorization server. Codes, refresh tokens and sign-ins under way are kept under the SHA-256 of their id, and
 * nothing that is kept repeats it. Of a client's secret the SHA-256 is kept, and the library gets that back in its place. Consents are
 * the rows of `grants`; the library's own sessions are not kept: who is signed in is said by the page session, and each authorization asks.
 */
export function createRecords(deps: {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly resources: Resources;
  readonly errors: RecordErrors;
}): (kind: string) => RecordsOfKind {
  const { store, clock, resources, errors } = deps;

  function records(kind: string): RecordsOfKind {
    return {
      async upsert(id, payload, expiresIn) {
        const now = clock.now();
        const record = {
          ...{ kind, id: keyOf(kind, id), createdAt: now },
          payload: kind === CLIENT ? withoutSecret(payload) : withoutId(id, payload),
          grantId: typeof payload.grantId === 'string' ? payload.grantId : undefined,
          expiresAt: expiresIn === undefined ? undefined : now + expiresIn * 1000,
        };
        const room = await store.commit(async db => {
          if (kind === CLIENT && !(await roomForClient(db))) return false;
          await putAuthorizationRecord(db, record);
          return true;
        });
        if (!room) throw errors.tooManyClients();
      },

      async find(id) {
        if (!ID.test(id)) return undefined;
        const now = clock.now();
        const found = await findAuthorizationRecord(store.db, { kind, id: keyOf(kind, id), now });
        if (!found) return undefined;
        const consumed = isUsedUp(kind, found.usedAt, now) ? { consumed: true } : {};
        return { ...withId(id, found.payload), ...consumed };
      },

      async consume(id) {
        const grantId = await store.commit(db => useOnce(db, kind, keyOf(kind, id)));
        if (grantId === undefined) return;
        await revokeByGrantId(grantId);
        throw errors.usedUp();
      },

      async destroy(id) {
        const deleted = await store.commit(db => deleteAuthorizationRecord(db, kind, keyOf(kind, id)));
        if (!deleted && kind === 'Interaction') throw errors.alreadyAnswered();
      },

      findByUid: async () => undefined,
      findByUserCode: async () => undefined,
      revokeByGrantId,
    };
  }

  /** Uses it, once and for all; of one that was used up, answers the consent it came from. */
  async function useOnce(db: Db, kind: string, id: string): Promise<string | undefined> {
    for (;;) {
      const now = clock.now();
      const found = await findAuthorizationRecord(db, { kind, id, now });
      if (!found || isUsedUp(kind, found.usedAt, now)) return found?.grantId ?? '';
      if (await useAuthorizationRecord(db, found, found.usedAt === undefined ? now : USED_AGAIN)) {
        return undefined;
      }
    }
  }

  async function revokeByGrantId(grantId: string): Promise<void> {
    await store.commit(async db => {
      await deleteAuthorizationRecordsOfGrant(db, grantId);
      await revokeGrant(db, { id: grantId, at: clock.now() });
    });
  }

  /** Consents, as the library knows them. */
  const grants: RecordsOfKind = {
    ...records('Grant'),
    async find(id) {
      const grant = ID.test(id) ? await findGrant(store.db, id) : undefined;
      return grant && grant.revokedAt === undefined ? asLibraryGrant(grant, resources) : undefined;
    },
    upsert: async () => {
      throw new Fault('grant_by_library', 'Only a person allows something, on the page for it.');
    },
    destroy: revokeByGrantId,
  };

  const sessions: RecordsOfKind = {
    ...records('Session'),
    upsert: async () => {},
    find: async () => undefined,
    destroy: async () => {},
  };

  return kind => (kind === 'Grant' ? grants : kind === 'Session' ? sessions : records(kind));
}

/**
 * What a person has decided about a sign-in under way, once: false when it was decided before, or is no longer there. Inside the unit that
 * stores what follows from it.
 */
export async function decideInteraction(db: Db, uid: string, result: Payload, now: number): Promise<boolean> {
  const kind = 'Interaction';
  const found = await findAuthorizationRecord(db, { kind, id: keyOf(kind, uid), now });
  if (!found || !(await useAuthorizationRecord(db, { ...found, usedAt: undefined }, now))) return false;
  await putAuthorizationRecord(db, { ...found, payload: { ...found.payload, result } });
  return true;
}

/** Removes what has ended. Runs each hour. */
export async function removeEndedRecords(deps: {
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
}): Promise<void> {
  const now = deps.clock.now();
  await deps.store.commit(async db => {
    await removeEndedAuthorizationRecords(db, { now, unusedBefore: now - DAY_MS });
    await removeEndedGrants(db, now - DAY_MS);
  });
}

/** Of many that nobody allows anything, the first one goes; those that are allowed something are not taken away by strangers. */
async function roomForClient(db: Db): Promise<boolean> {
  if ((await countAuthorizationRecords(db, CLIENT)) < MAX_CLIENTS) return true;
  return removeOldestUnusedClient(db);
}

function isUsedUp(kind: string, usedAt: number | undefined, now: number): boolean {
  if (usedAt === undefined) return false;
  return kind !== 'RefreshToken' || usedAt === USED_AGAIN || now - usedAt > HONEST_RACE_MS;
}

function keyOf(kind: string, id: string): string {
  return OPEN_KINDS.has(kind) ? id : sha256OfText(id);
}

/** The library stores a client once, when it registers. */
function withoutSecret(client: Payload): Payload {
  const { client_secret: secret } = client;
  return typeof secret === 'string' ? { ...client, client_secret: hashOfClientSecret(secret) } : client;
}

/** The id stands in `jti`, and at the end of the address at which a sign-in goes on. */
function withoutId(id: string, payload: Payload): Payload {
  const { jti, returnTo, ...rest } = payload;
  if (jti === undefined) return payload;
  const begin = typeof returnTo === 'string' ? { returnTo: returnTo.slice(0, -id.length) } : {};
  return { ...rest, ...begin };
}

function withId(id: string, payload: Payload): Payload {
  const { returnTo } = payload;
  const whole = typeof returnTo === 'string' ? { returnTo: returnTo + id } : {};
  return 'client_id' in payload ? payload : { ...payload, ...whole, jti: id };
}

function asLibraryGrant(grant: GrantRecord, { addressOf }: Resources): Payload {
  const doors =
    grant.door === 'operator'
      ? [addressOf({ door: 'operator' })]
      : [
          addressOf({ door: 'agents' }),
          ...grant.agentIds.map(agentId => addressOf({ door: 'agent', agentId })),
        ];
  return {
    ...{ jti: grant.id, kind: 'Grant', accountId: grant.userId, clientId: grant.clientId },
    iat: Math.floor(grant.createdAt / 1000),
    exp: Math.floor(grant.expiresAt / 1000),
    openid: { scope: 'openid' },
    resources: Object.fromEntries(doors.map(door => [door, grant.scope])),
  };
}
