import type { Db } from '../store.ts';

/**
 * A secret all nodes share. The first node to ask makes it; a second one that asks at the same moment gets the first one's.
 */
export async function findOrInsertServerSecret(
  db: Db,
  name: string,
  fresh: Uint8Array,
  at: number,
): Promise<Uint8Array> {
  await db
    .insertInto('server_secrets')
    .values({ name, value: fresh, created_at: at })
    .onConflict(conflict => conflict.column('name').doNothing())
    .execute();
  const row = await db
    .selectFrom('server_secrets')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return new Uint8Array(row.value);
}

/** `undefined` while no node has asked for it. */
export async function findServerSecret(db: Db, name: string): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('server_secrets')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirst();
  return row && new Uint8Array(row.value);
}
