import type { Role } from '@patchbay/contract/roles';
import { publish } from '../events.ts';
import type { Db } from '../store.ts';
import { decodeRoles, type User } from './users.ts';

/** How a person signs in. */
export interface Account extends User {
  /** In lower case; `undefined` for who has none here. */
  readonly login: string | undefined;
  /** Hash, with what it was made by. */
  readonly password: string | undefined;
  /** Epoch ms; `undefined` when the account is not locked. */
  readonly lockedUntil: number | undefined;
  readonly disabled: boolean;
}

/** A person without a row here has neither login nor password, and is not disabled. */
export async function findAccount(db: Db, userId: string): Promise<Account | undefined> {
  const row = await selectAccounts(db).where('users.id', '=', userId).executeTakeFirst();
  return row && toAccount(row);
}

export async function findAccountByLogin(db: Db, login: string): Promise<Account | undefined> {
  const row = await selectAccounts(db).where('accounts.login', '=', login).executeTakeFirst();
  return row && toAccount(row);
}

/** Who an OpenID provider knows by this name of its own. */
export async function findAccountBySubject(
  db: Db,
  known: { readonly issuer: string; readonly subject: string },
): Promise<Account | undefined> {
  const row = await selectAccounts(db)
    .where('accounts.issuer', '=', known.issuer)
    .where('accounts.subject', '=', known.subject)
    .executeTakeFirst();
  return row && toAccount(row);
}

/** In the order of their ids, those after `after`. */
export async function listAccounts(
  db: Db,
  page: {
    readonly login?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  },
): Promise<(Account & { readonly createdAt: number })[]> {
  let query = selectAccounts(db).select('users.created_at');
  if (page.login !== undefined) query = query.where('accounts.login', '=', page.login);
  if (page.after !== undefined) query = query.where('users.id', '>', page.after);
  const rows = await query.orderBy('users.id').limit(page.limit).execute();
  return rows.map(row => ({ ...toAccount(row), createdAt: row.created_at }));
}

/** False, and nothing is stored, when login or subject is taken or the person has a row already. */
export async function insertAccount(
  db: Db,
  account: {
    readonly userId: string;
    readonly login?: string | undefined;
    readonly password?: string | undefined;
    readonly known?: { readonly issuer: string; readonly subject: string } | undefined;
  },
): Promise<boolean> {
  const row = await db
    .insertInto('accounts')
    .values({
      user_id: account.userId,
      login: account.login ?? null,
      password: account.password ?? null,
      failed_sign_ins: 0,
      locked_until: null,
      disabled: 0,
      issuer: account.known?.issuer ?? null,
      subject: account.known?.subject ?? null,
    })
    .onConflict(conflict => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Counts a try before its password is looked at, so that tries at the same moment are no more than tries in a row. `undefined` when
 * there is nothing to try: no such account, none with a password, disabled, or locked at `now`.
 */
export async function takeSignInTry(
  db: Db,
  who: { readonly login: string } | { readonly userId: string },
  options: { readonly now: number; readonly lockedUntil: (failedSignIns: number) => number | undefined },
): Promise<{ readonly userId: string; readonly password: string } | undefined> {
  const { now, lockedUntil } = options;
  let update = db
    .updateTable('accounts')
    .set(eb => ({ failed_sign_ins: eb('failed_sign_ins', '+', 1) }))
    .where('password', 'is not', null)
    .where('disabled', '=', 0)
    .where(eb => eb.or([eb('locked_until', 'is', null), eb('locked_until', '<=', now)]));
  update = 'login' in who ? update.where('login', '=', who.login) : update.where('user_id', '=', who.userId);
  const row = await update.returning(['user_id', 'password', 'failed_sign_ins']).executeTakeFirst();
  if (!row) return undefined;
  const until = lockedUntil(row.failed_sign_ins);
  if (until !== undefined) {
    await db
      .updateTable('accounts')
      .set({ locked_until: until })
      .where('user_id', '=', row.user_id)
      .execute();
  }
  return { userId: row.user_id, password: row.password! };
}

/** After a try that succeeded. */
export async function clearSignInTries(db: Db, userId: string): Promise<void> {
  await db
    .updateTable('accounts')
    .set({ failed_sign_ins: 0, locked_until: null })
    .where('user_id', '=', userId)
    .execute();
}

/** Unlocks the account, too. `undefined` takes the password away. */
export async function setPassword(db: Db, userId: string, password: string | undefined): Promise<void> {
  await db
    .updateTable('accounts')
    .set({ password: password ?? null, failed_sign_ins: 0, locked_until: null })
    .where('user_id', '=', userId)
    .execute();
}

/** For who has none. False when somebody else has it. A person without a row gets one. */
export async function setLogin(db: Db, userId: string, login: string): Promise<boolean> {
  if (await insertAccount(db, { userId, login })) return true;
  if (await findAccountByLogin(db, login)) return false;
  await db.updateTable('accounts').set({ login }).where('user_id', '=', userId).execute();
  return true;
}

/** Tells the news that the person changed. A person without a row gets one. */
export async function setDisabled(db: Db, userId: string, disabled: boolean): Promise<void> {
  const value = disabled ? 1 : 0;
  await db
    .insertInto('accounts')
    .values({
      user_id: userId,
      login: null,
      password: null,
      failed_sign_ins: 0,
      locked_until: null,
      disabled: value,
      issuer: null,
      subject: null,
    })
    .onConflict(conflict => conflict.column('user_id').doUpdateSet({ disabled: value }))
    .execute();
  publish(db, { kind: 'user-changed', userId });
}

function selectAccounts(db: Db) {
  return db
    .selectFrom('users')
    .leftJoin('accounts', 'accounts.user_id', 'users.id')
    .select([
      'users.id',
      'users.name',
      'users.roles',
      'accounts.login',
      'accounts.password',
      'accounts.locked_until',
      'accounts.disabled',
    ]);
}

function toAccount(row: {
  readonly id: string;
  readonly name: string;
  readonly roles: string;
  readonly login: string | null;
  readonly password: string | null;
  readonly locked_until: number | null;
  readonly disabled: number | null;
}): Account {
  const roles: readonly Role[] = decodeRoles(row.roles);
  return {
    id: row.id,
    name: row.name,
    roles,
    login: row.login ?? undefined,
    password: row.password ?? undefined,
    lockedUntil: row.locked_until ?? undefined,
    disabled: row.disabled === 1,
  };
}
