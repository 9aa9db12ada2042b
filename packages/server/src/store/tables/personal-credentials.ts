import { sql } from 'kysely';
import { publish } from '../events.ts';
import { NOW } from '../now.ts';
import type { Db } from '../store.ts';
import { DATA_KEY_COLUMNS, type DataKeyRecord, toDataKey } from './data-keys.ts';

export interface CredentialKey {
  /** Principal id. */
  readonly userId: string;
  readonly name: string;
}

/** What may be shown of a person's credential. */
export interface CredentialRecord extends CredentialKey {
  /** Another one, and a greater, after every change. */
  readonly revision: number;
  /** The revision that the person gave: it may have been renewed since. */
  readonly given: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** With what it takes to open it, besides the vault key. */
export interface SealedCredential extends CredentialRecord {
  readonly sealed: Uint8Array;
  readonly dataKey: DataKeyRecord;
}

const SHOWN = [
  'personal_credentials.user_id',
  'personal_credentials.name',
  'personal_credentials.revision',
  'personal_credentials.given',
  'personal_credentials.created_at as given_at',
  'personal_credentials.updated_at',
] as const;

/** What such a credential is sealed for: nobody who can write rows may give it to somebody else, or another name. */
export function credentialOf({ userId, name }: CredentialKey): readonly string[] {
  return ['personal-credential', userId, name];
}

/** In one look, so that a rotation cannot take the key away in between. */
export async function findCredential(
  db: Db,
  { userId, name }: CredentialKey,
): Promise<SealedCredential | undefined> {
  const row = await selectSealed(db)
    .where('personal_credentials.user_id', '=', userId)
    .where('personal_credentials.name', '=', name)
    .executeTakeFirst();
  return row && toSealed(row);
}

/** Those of one person, by name. */
export async function listCredentials(db: Db, userId: string): Promise<CredentialRecord[]> {
  const rows = await db
    .selectFrom('personal_credentials')
    .select(SHOWN)
    .where('user_id', '=', userId)
    .orderBy('name')
    .execute();
  return rows.map(toRecord);
}

/** Those that another key than this one has sealed. */
export async function listCredentialsOfOtherKeys(
  db: Db,
  options: {
    readonly dataKeyId: string;
    readonly after: CredentialKey | undefined;
    readonly limit: number;
  },
): Promise<SealedCredential[]> {
  const { userId = '', name = '' } = options.after ?? {};
  const rows = await selectSealed(db)
    .where('personal_credentials.data_key_id', '<>', options.dataKeyId)
    .where(eb =>
      eb.or([
        eb('personal_credentials.user_id', '>', userId),
        eb.and([eb('personal_credentials.user_id', '=', userId), eb('personal_credentials.name', '>', name)]),
      ]),
    )
    .orderBy('personal_credentials.user_id')
    .orderBy('personal_credentials.name')
    .limit(options.limit)
    .execute();
  return rows.map(toSealed);
}

/** Inserts it, or puts it in the place of what is there under that name. */
export async function upsertCredential(
  db: Db,
  credential: CredentialRecord & { readonly sealed: Uint8Array; readonly dataKeyId: string },
): Promise<void> {
  const { userId, name, revision, given, createdAt, updatedAt, sealed, dataKeyId } = credential;
  const changing = {
    ...{ revision, given, sealed },
    data_key_id: dataKeyId,
    created_at: createdAt,
    updated_at: updatedAt,
    renewing_until: null,
  };
  await db
    .insertInto('personal_credentials')
    .values({ user_id: userId, name, ...changing })
    .onConflict(conflict => conflict.columns(['user_id', 'name']).doUpdateSet(changing))
    .execute();
  publish(db, { kind: 'credential-changed', userId, name });
}

/** The same credential under another key: nobody has to hear of it. */
export async function resealCredential(
  db: Db,
  {
    userId,
    name,
    revision,
    sealed,
    dataKeyId,
  }: CredentialKey & {
    readonly revision: number;
    readonly sealed: Uint8Array;
    readonly dataKeyId: string;
  },
): Promise<void> {
  await db
    .updateTable('personal_credentials')
    .set({ sealed, data_key_id: dataKeyId })
    .where('user_id', '=', userId)
    .where('name', '=', name)
    .where('revision', '=', revision)
    .execute();
}

/** False when there is none of that name. */
export async function deleteCredential(db: Db, { userId, name }: CredentialKey): Promise<boolean> {
  const row = await db
    .deleteFrom('personal_credentials')
    .where('user_id', '=', userId)
    .where('name', '=', name)
    .returning('name')
    .executeTakeFirst();
  publish(db, { kind: 'credential-changed', userId, name });
  return row !== undefined;
}

function selectSealed(db: Db) {
  return db
    .selectFrom('personal_credentials')
    .innerJoin('data_keys', 'data_keys.id', 'personal_credentials.data_key_id')
    .select(SHOWN)
    .select('personal_credentials.sealed')
    .select(DATA_KEY_COLUMNS);
}

interface ShownRow {
  readonly user_id: string;
  readonly name: string;
  readonly revision: number;
  readonly given: number;
  readonly given_at: number;
  readonly updated_at: number;
}

function toRecord(row: ShownRow): CredentialRecord {
  return {
    userId: row.user_id,
    name: row.name,
    revision: row.revision,
    given: row.given,
    createdAt: row.given_at,
    updatedAt: row.updated_at,
  };
}

function toSealed(
  row: ShownRow & {
    readonly sealed: Uint8Array;
    readonly id: string;
    readonly vault_key_id: string;
    readonly wrapped: Uint8Array;
  },
): SealedCredential {
  return { ...toRecord(row), sealed: new Uint8Array(row.sealed), dataKey: toDataKey(row) };
}

/** Has one node renew it; true for exactly one of those that have seen this revision, until so long has passed. */
export async function beginRenewal(
  db: Db,
  { userId, name, revision }: CredentialKey & Pick<CredentialRecord, 'revision'>,
  leaseMs: number,
): Promise<boolean> {
  const row = await db
    .updateTable('personal_credentials')
    .set({ renewing_until: sql<number>`${NOW} + ${leaseMs}` })
    .where('user_id', '=', userId)
    .where('name', '=', name)
    .where('revision', '=', revision)
    .where(eb => eb.or([eb('renewing_until', 'is', null), eb('renewing_until', '<', NOW)]))
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/** What came of it, in the place of the revision that was renewed. Nobody has to hear of it. False when the person has given another one meanwhile. */
export async function endRenewal(
  db: Db,
  { userId, name, revision }: CredentialKey & Pick<CredentialRecord, 'revision'>,
  next: {
    readonly revision: number;
    readonly updatedAt: number;
    readonly sealed: Uint8Array;
    readonly dataKeyId: string;
  },
): Promise<boolean> {
  const row = await db
    .updateTable('personal_credentials')
    .set({
      ...{ revision: next.revision, sealed: next.sealed, data_key_id: next.dataKeyId },
      ...{ updated_at: next.updatedAt, renewing_until: null },
    })
    .where('user_id', '=', userId)
    .where('name', '=', name)
    .where('revision', '=', revision)
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/** It could not be renewed now: whoever comes next may try. */
export async function leaveRenewal(
  db: Db,
  { userId, name, revision }: CredentialKey & Pick<CredentialRecord, 'revision'>,
): Promise<void> {
  await db
    .updateTable('personal_credentials')
    .set({ renewing_until: null })
    .where('user_id', '=', userId)
    .where('name', '=', name)
    .where('revision', '=', revision)
    .execute();
}
