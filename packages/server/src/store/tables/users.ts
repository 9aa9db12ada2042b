import { parseRole, type Role } from '@patchbay/contract/roles';
import { publish } from '../events.ts';
import { prepareQuery } from '../prepared-query.ts';
import type { Db } from '../store.ts';

export interface User {
  readonly id: string;
  readonly name: string;
  readonly roles: readonly Role[];
}

export async function insertUser(db: Db, user: User & { readonly createdAt: number }): Promise<void> {
  await db
    .insertInto('users')
    .values({ id: user.id, name: user.name, roles: JSON.stringify(user.roles), created_at: user.createdAt })
    .execute();
}

/** Until the unit ends, no other unit locks or changes the person. */
export async function lockUser(db: Db, id: string): Promise<void> {
  await db
    .updateTable('users')
    .set(eb => ({ name: eb.ref('name') }))
    .where('id', '=', id)
    .execute();
}

/** The person as doors need them, with the roles they have now. A door asks this once a request. */
export async function findPerson(
  db: Db,
  id: string,
): Promise<(User & { readonly disabled: boolean }) | undefined> {
  const [row] = await selectPerson(db, { id });
  return row && { id: row.id, name: row.name, roles: decodeRoles(row.roles), disabled: row.disabled === 1 };
}

const selectPerson = prepareQuery((db, { id }: { id: string }) =>
  db
    .selectFrom('users')
    .leftJoin('accounts', 'accounts.user_id', 'users.id')
    .select(['users.id', 'users.name', 'users.roles', 'accounts.disabled'])
    .where('users.id', '=', id),
);

/** False when there is no such person. */
export async function updateUserRoles(db: Db, id: string, roles: readonly Role[]): Promise<boolean> {
  const row = await db
    .updateTable('users')
    .set({ roles: JSON.stringify(roles) })
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  if (row) publish(db, { kind: 'user-changed', userId: id });
  return row !== undefined;
}

/** The person who was there first: the owner of the installation. */
export async function findFirstUser(db: Db): Promise<User | undefined> {
  const row = await db
    .selectFrom('users')
    .select(['id', 'name', 'roles'])
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row && { id: row.id, name: row.name, roles: decodeRoles(row.roles) };
}

/** A role this version does not know gives no right. */
export function decodeRoles(json: string): Role[] {
  return (JSON.parse(json) as string[]).flatMap(name => parseRole(name) ?? []);
}
