import type { Db } from '../store.ts';
import { DATA_KEY_COLUMNS, type DataKeyRecord, toDataKey } from './data-keys.ts';

/** Somebody who is away at the authorization server of an MCP server. */
export interface ServerSignIn {
  /** Of what they come back with. */
  readonly stateHash: string;
  readonly userId: string;
  /** Of the credential they will have, by name. */
  readonly credential: string;
  readonly sealed: Uint8Array;
  readonly dataKeyId: string;
  /** Epoch ms. */
  readonly expiresAt: number;
}

export async function insertServerSignIn(db: Db, signIn: ServerSignIn): Promise<void> {
  await db
    .insertInto('server_sign_ins')
    .values({
      state_hash: signIn.stateHash,
      user_id: signIn.userId,
      credential: signIn.credential,
      sealed: signIn.sealed,
      data_key_id: signIn.dataKeyId,
      expires_at: signIn.expiresAt,
    })
    .execute();
}

/** How many of them a person has under way, and since when the oldest. */
export async function countServerSignIns(db: Db, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('server_sign_ins')
    .select(eb => eb.fn.countAll<number | string>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Takes it away: whoever comes back with the same a second time finds nothing. `undefined` for another person's, and after its time. */
export async function takeServerSignIn(
  db: Db,
  { stateHash, userId, now }: { readonly stateHash: string; readonly userId: string; readonly now: number },
): Promise<(Pick<ServerSignIn, 'credential' | 'sealed'> & { readonly dataKey: DataKeyRecord }) | undefined> {
  const row = await db
    .selectFrom('server_sign_ins')
    .innerJoin('data_keys', 'data_keys.id', 'server_sign_ins.data_key_id')
    .select(['server_sign_ins.credential', 'server_sign_ins.sealed'])
    .select(DATA_KEY_COLUMNS)
    .where('state_hash', '=', stateHash)
    .where('user_id', '=', userId)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  if (!row) return undefined;
  const taken = await db
    .deleteFrom('server_sign_ins')
    .where('state_hash', '=', stateHash)
    .returning('state_hash')
    .executeTakeFirst();
  return (
    taken && {
      credential: row.credential,
      sealed: new Uint8Array(row.sealed),
      dataKey: toDataKey(row),
    }
  );
}

export async function deleteExpiredServerSignIns(db: Db, now: number): Promise<void> {
  await db.deleteFrom('server_sign_ins').where('expires_at', '<=', now).execute();
}
