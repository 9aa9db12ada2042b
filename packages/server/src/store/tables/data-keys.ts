import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';

/** A key that secrets are encrypted with, as it is kept: encrypted itself, with the vault key. */
export interface DataKeyRecord {
  readonly id: string;
  /** Names the vault key, which is not in the database. */
  readonly vaultKeyId: string;
  readonly wrapped: Uint8Array;
}

export const DATA_KEY_COLUMNS = ['data_keys.id', 'data_keys.vault_key_id', 'data_keys.wrapped'] as const;

/**
 * The key that new secrets get, held until the unit ends: whoever stores secrets or rotates keys waits for each other.
 * `undefined` when there is none, and when another unit has just put another one in its place: then ask again.
 */
export async function lockCurrentDataKey(db: Db): Promise<DataKeyRecord | undefined> {
  const row = await db
    .updateTable('data_keys')
    .set(eb => ({ is_current: eb.ref('is_current') }))
    .where('is_current', '=', 1)
    .returning(DATA_KEY_COLUMNS)
    .executeTakeFirst();
  return row && toDataKey(row);
}

/** Makes it the key that new secrets get, unless there is one. */
export async function insertCurrentDataKey(
  db: Db,
  key: DataKeyRecord & { readonly createdAt: number },
): Promise<void> {
  await db
    .insertInto('data_keys')
    .values({
      id: key.id,
      vault_key_id: key.vaultKeyId,
      wrapped: key.wrapped,
      is_current: 1,
      created_at: key.createdAt,
    })
    .onConflict(conflict => conflict.doNothing())
    .execute();
}

/** It opens what it has sealed, and seals nothing new. */
export async function retireDataKey(db: Db, id: string): Promise<void> {
  await db.updateTable('data_keys').set({ is_current: 0 }).where('id', '=', id).execute();
}

export async function listDataKeys(db: Db): Promise<DataKeyRecord[]> {
  const rows = await db.selectFrom('data_keys').select(DATA_KEY_COLUMNS).orderBy('created_at').execute();
  return rows.map(toDataKey);
}

/** The same key under another vault key. False when somebody else has done it. */
export async function rewrapDataKey(
  db: Db,
  key: DataKeyRecord & { readonly fromVaultKeyId: string },
): Promise<boolean> {
  const row = await db
    .updateTable('data_keys')
    .set({ vault_key_id: key.vaultKeyId, wrapped: key.wrapped })
    .where('id', '=', key.id)
    .where('vault_key_id', '=', key.fromVaultKeyId)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Where what they have sealed is kept. */
const SEALED_TABLES = ['secrets', 'personal_credentials', 'server_sign_ins'] as const;

/** Retired keys that have sealed nothing that is there. */
export async function deleteUnusedDataKeys(db: Db): Promise<void> {
  await db
    .deleteFrom('data_keys')
    .where('is_current', '=', 0)
    .where(eb =>
      eb.not(
        eb.or(
          SEALED_TABLES.map(table =>
            eb.exists(
              eb
                .selectFrom(table)
                .select(`${table}.data_key_id`)
                .whereRef(`${table}.data_key_id`, '=', 'data_keys.id'),
            ),
          ),
        ),
      ),
    )
    .execute();
}

export function toDataKey(row: Pick<Schema['data_keys'], 'id' | 'vault_key_id' | 'wrapped'>): DataKeyRecord {
  return { id: row.id, vaultKeyId: row.vault_key_id, wrapped: new Uint8Array(row.wrapped) };
}
