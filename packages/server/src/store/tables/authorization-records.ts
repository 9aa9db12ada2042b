import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';

/** What the authorization server remembers, named by kind and id. */
export interface AuthorizationRecord {
  readonly kind: string;
  /** A hash where the id is a secret. */
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly grantId: string | undefined;
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
}

/** With how often it was used: a code is used once. */
export interface StoredAuthorizationRecord extends AuthorizationRecord {
  readonly usedAt: number | undefined;
}

/** Writes it anew, or another payload and end of one that is there. */
export async function putAuthorizationRecord(db: Db, record: AuthorizationRecord): Promise<void> {
  const payload = JSON.stringify(record.payload);
  const expires_at = record.expiresAt ?? null;
  await db
    .insertInto('authorization_records')
    .values({
      kind: record.kind,
      id: record.id,
      payload,
      grant_id: record.grantId ?? null,
      uid: null,
      used_at: null,
      created_at: record.createdAt,
      expires_at,
    })
    .onConflict(conflict => conflict.columns(['kind', 'id']).doUpdateSet({ payload, expires_at }))
    .execute();
}

/** `undefined` also for one that has ended at `now`. */
export async function findAuthorizationRecord(
  db: Db,
  { kind, id, now }: { readonly kind: string; readonly id: string; readonly now: number },
): Promise<StoredAuthorizationRecord | undefined> {
  const row = await db
    .selectFrom('authorization_records')
    .selectAll()
    .where('kind', '=', kind)
    .where('id', '=', id)
    .where(eb => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .executeTakeFirst();
  return row && toRecord(row);
}

/** Marks it as used at `at`, if it is still as it was found. False when somebody was quicker. */
export async function useAuthorizationRecord(
  db: Db,
  record: { readonly kind: string; readonly id: string; readonly usedAt: number | undefined },
  at: number,
): Promise<boolean> {
  const { kind, id, usedAt } = record;
  const marked = await db
    .updateTable('authorization_records')
    .set({ used_at: at })
    .where('kind', '=', kind)
    .where('id', '=', id)
    .where('used_at', usedAt === undefined ? 'is' : '=', usedAt ?? null)
    .returning('id')
    .executeTakeFirst();
  return marked !== undefined;
}

/** False when it was not there. */
export async function deleteAuthorizationRecord(db: Db, kind: string, id: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('authorization_records')
    .where('kind', '=', kind)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return deleted !== undefined;
}

/** Everything that came from one consent. */
export async function deleteAuthorizationRecordsOfGrant(db: Db, grantId: string): Promise<void> {
  await db.deleteFrom('authorization_records').where('grant_id', '=', grantId).execute();
}

/** What has ended, what is left of consents that were taken back, and clients of before `unusedBefore` that nobody allows anything. */
export async function removeEndedAuthorizationRecords(
  db: Db,
  { now, unusedBefore }: { readonly now: number; readonly unusedBefore: number },
): Promise<void> {
  await db.deleteFrom('authorization_records').where('expires_at', '<=', now).execute();
  await db
    .deleteFrom('authorization_records')
    .where('grant_id', 'in', grants =>
      grants.selectFrom('grants').select('id').where('revoked_at', 'is not', null),
    )
    .execute();
  await db
    .deleteFrom('authorization_records')
    .where('kind', '=', CLIENT)
    .where('created_at', '<', unusedBefore)
    .where('id', 'not in', grants => grants.selectFrom('grants').select('client_id'))
    .execute();
}

export async function countAuthorizationRecords(db: Db, kind: string): Promise<number> {
  const { count } = await db
    .selectFrom('authorization_records')
    .select(eb => eb.fn.countAll<number | string>().as('count'))
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The client that was registered first of those nobody allows anything. False when there is none. */
export async function removeOldestUnusedClient(db: Db): Promise<boolean> {
  const oldest = await db
    .selectFrom('authorization_records')
    .select('id')
    .where('kind', '=', CLIENT)
    .where('id', 'not in', grants => grants.selectFrom('grants').select('client_id'))
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return oldest !== undefined && (await deleteAuthorizationRecord(db, CLIENT, oldest.id));
}

/** The kind of registered clients. */
export const CLIENT = 'Client';

function toRecord(row: Schema['authorization_records']): StoredAuthorizationRecord {
  return {
    kind: row.kind,
    id: row.id,
    payload: JSON.parse(row.payload) as Record<string, unknown>,
    grantId: row.grant_id ?? undefined,
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
    usedAt: row.used_at ?? undefined,
  };
}
