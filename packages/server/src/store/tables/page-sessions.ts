import type { Role } from '@patchbay/contract/roles';
import type { Db } from '../store.ts';
import { decodeRoles } from './users.ts';

/** Somebody who is signed in in a browser. */
export interface PageSessionRecord {
  readonly idHash: string;
  readonly userId: string;
  /** The person's, as they are now. */
  readonly name: string;
  readonly roles: readonly Role[];
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Keeps the newest `keep` sessions of the person, this one among them. */
export async function insertPageSession(
  db: Db,
  session: Pick<PageSessionRecord, 'idHash' | 'userId' | 'createdAt' | 'expiresAt'>,
  keep: number,
): Promise<void> {
  await db
    .insertInto('page_sessions')
    .values({
      id_hash: session.idHash,
      user_id: session.userId,
      created_at: session.createdAt,
      expires_at: session.expiresAt,
    })
    .execute();
  await db
    .deleteFrom('page_sessions')
    .where('user_id', '=', session.userId)
    .where('id_hash', 'not in', kept =>
      kept
        .selectFrom('page_sessions')
        .select('id_hash')
        .where('user_id', '=', session.userId)
        .orderBy('created_at', 'desc')
        .orderBy('id_hash')
        .limit(keep),
    )
    .execute();
}

/** `undefined` for one that is over, and for one of a person who may no longer sign in. */
export async function findPageSession(
  db: Db,
  idHash: string,
  now: number,
): Promise<PageSessionRecord | undefined> {
  const row = await db
    .selectFrom('page_sessions')
    .innerJoin('users', 'users.id', 'page_sessions.user_id')
    .leftJoin('accounts', 'accounts.user_id', 'users.id')
    .select([
      'page_sessions.user_id',
      'page_sessions.created_at',
      'page_sessions.expires_at',
      'users.name',
      'users.roles',
      'accounts.disabled',
    ])
    .where('page_sessions.id_hash', '=', idHash)
    .where('page_sessions.expires_at', '>', now)
    .executeTakeFirst();
  if (!row || row.disabled === 1) return undefined;
  return {
    idHash,
    userId: row.user_id,
    name: row.name,
    roles: decodeRoles(row.roles),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

export async function extendPageSession(db: Db, idHash: string, expiresAt: number): Promise<void> {
  await db
    .updateTable('page_sessions')
    .set({ expires_at: expiresAt })
    .where('id_hash', '=', idHash)
    .execute();
}

export async function deletePageSession(db: Db, idHash: string): Promise<void> {
  await db.deleteFrom('page_sessions').where('id_hash', '=', idHash).execute();
}

export async function deletePageSessionsOf(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('page_sessions').where('user_id', '=', userId).execute();
}

export async function deleteOldPageSessions(db: Db, now: number): Promise<void> {
  await db.deleteFrom('page_sessions').where('expires_at', '<=', now).execute();
}
