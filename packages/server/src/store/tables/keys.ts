import type { KeyScope } from '@patchbay/contract/operations/keys';
import type { Role } from '@patchbay/contract/roles';
import { publish } from '../events.ts';
import { prepareQuery } from '../prepared-query.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';
import { decodeRoles } from './users.ts';

/** A key as it is kept: a hash, never the key (BX-01). */
export interface KeyRecord {
  readonly id: string;
  readonly kind: 'user' | 'agent';
  readonly userId: string;
  /** The one agent of an agent key. */
  readonly agentId: string | undefined;
  readonly hash: string;
  readonly prefix: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  /** Opens at the agent door also what others share with its owner. */
  readonly shared: boolean;
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
  readonly revokedAt: number | undefined;
  /** To the minute; `undefined` for one that was never used. */
  readonly lastUsedAt: number | undefined;
}

export async function insertKey(db: Db, key: KeyRecord): Promise<void> {
  await db
    .insertInto('keys')
    .values({
      id: key.id,
      kind: key.kind,
      user_id: key.userId,
      agent_id: key.agentId ?? null,
      hash: key.hash,
      prefix: key.prefix,
      name: key.name,
      scopes: JSON.stringify(key.scopes),
      created_at: key.createdAt,
      expires_at: key.expiresAt ?? null,
      revoked_at: key.revokedAt ?? null,
      shared: key.shared ? 1 : 0,
    })
    .execute();
}

/** Revoked and expired ones, too. */
export async function findKey(db: Db, id: string): Promise<KeyRecord | undefined> {
  const row = await db.selectFrom('keys').select(KEY_COLUMNS).where('id', '=', id).executeTakeFirst();
  return row && toRecord(row);
}

/** A key with what its owner is now. */
export interface OwnedKey extends KeyRecord {
  readonly ownerRoles: readonly Role[];
  readonly ownerDisabled: boolean;
}

/** The key and its owner in one query: a door asks this once a request. */
export async function findKeyByHash(db: Db, hash: string): Promise<OwnedKey | undefined> {
  const [row] = await selectByHash(db, { hash });
  return (
    row && {
      ...toRecord(row),
      ownerRoles: decodeRoles(row.owner_roles),
      ownerDisabled: row.owner_disabled === 1,
    }
  );
}

const KEY_COLUMNS = [
  'keys.id',
  'keys.kind',
  'keys.user_id',
  'keys.agent_id',
  'keys.hash',
  'keys.prefix',
  'keys.name',
  'keys.scopes',
  'keys.shared',
  'keys.created_at',
  'keys.expires_at',
  'keys.revoked_at',
  'keys.last_used_at',
] as const;

const selectByHash = prepareQuery((db, { hash }: { hash: string }) =>
  db
    .selectFrom('keys')
    .innerJoin('users', 'users.id', 'keys.user_id')
    .leftJoin('accounts', 'accounts.user_id', 'keys.user_id')
    .select(KEY_COLUMNS)
    .select(['users.roles as owner_roles', 'accounts.disabled as owner_disabled'])
    .where('keys.hash', '=', hash),
);

/** Keys that still open something at `now`, newest first. */
export async function listActiveKeys(
  db: Db,
  filter: { readonly userId: string; readonly agentId?: string; readonly now: number },
): Promise<KeyRecord[]> {
  let query = db
    .selectFrom('keys')
    .select(KEY_COLUMNS)
    .where('user_id', '=', filter.userId)
    .where('revoked_at', 'is', null)
    .where(eb => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', filter.now)]));
  if (filter.agentId !== undefined) query = query.where('agent_id', '=', filter.agentId);
  const rows = await query.orderBy('created_at', 'desc').orderBy('id').execute();
  return rows.map(toRecord);
}

/** Of each key the latest time stays, whichever node wrote it. */
export async function noteKeysUsed(db: Db, ids: readonly string[], at: number): Promise<void> {
  for (let from = 0; from < ids.length; from += IDS_A_STATEMENT) {
    await db
      .updateTable('keys')
      .set({ last_used_at: at })
      .where('id', 'in', ids.slice(from, from + IDS_A_STATEMENT))
      .where(eb => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', at)]))
      .execute();
  }
}

const IDS_A_STATEMENT = 500;

/**
 * False when the person, or their agent, has no such key; without a person, when there is none at all. Revoking twice keeps the first
 * time, and tells the news again.
 */
export async function revokeKey(
  db: Db,
  key: {
    readonly id: string;
    readonly userId?: string | undefined;
    readonly agentId?: string;
    readonly at: number;
  },
): Promise<boolean> {
  let query = db.selectFrom('keys').select('revoked_at').where('id', '=', key.id);
  if (key.userId !== undefined) query = query.where('user_id', '=', key.userId);
  if (key.agentId !== undefined) query = query.where('agent_id', '=', key.agentId);
  const found = await query.executeTakeFirst();
  if (!found) return false;
  if (found.revoked_at === null) {
    await db.updateTable('keys').set({ revoked_at: key.at }).where('id', '=', key.id).execute();
  }
  publish(db, { kind: 'key-changed', keyId: key.id });
  return true;
}

/** Everything that opens something for the person: their own keys and those of their agents. */
export async function revokeKeysOf(db: Db, userId: string, at: number): Promise<void> {
  for (const { id } of await listActiveKeys(db, { userId, now: at })) await revokeKey(db, { id, userId, at });
}

function toRecord(row: Schema['keys']): KeyRecord {
  return {
    id: row.id,
    kind: row.kind === 'agent' ? 'agent' : 'user',
    userId: row.user_id,
    agentId: row.agent_id ?? undefined,
    hash: row.hash,
    prefix: row.prefix,
    name: row.name,
    scopes: JSON.parse(row.scopes) as KeyScope[],
    shared: row.shared === 1,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    revokedAt: row.revoked_at ?? undefined,
    lastUsedAt: row.last_used_at ?? undefined,
  };
}
