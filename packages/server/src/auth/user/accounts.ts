import type { Clock } from '../../kernel/clock.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';
import type { Db, Store } from '../../store/store.ts';
import {
  clearSignInTries,
  findAccount,
  findAccountByLogin,
  setPassword,
  takeSignInTry,
} from '../../store/tables/accounts.ts';
import { deletePageSessionsOf } from '../../store/tables/page-sessions.ts';
import { deleteSignInLinksOf, takeSignInLink } from '../../store/tables/sign-in-links.ts';
import { hashPageToken } from '../page/page-token.ts';
import { isTooLong, type PasswordRefusal, refusePassword } from './password-rules.ts';
import type { Passwords } from './passwords.ts';

/** The reason goes to the log and the audit trail; who tries to sign in hears one sentence for all of them (attack 23). */
export type SignInRefusal = {
  readonly reason:
    | 'unknown-account'
    | 'no-password'
    | 'account-disabled'
    | 'account-locked'
    | 'wrong-password';
  /** Whose account it is, where it is somebody's. */
  readonly userId?: string;
};

/** Signing in with a password. Every try costs one hash, whether there is such an account or not. */
export interface Accounts {
  /** How a person may sign in. */
  describe(userId: string): Promise<{ readonly login: string | undefined; readonly hasPassword: boolean }>;
  signIn(login: string, password: string): Promise<Outcome<{ readonly userId: string }, SignInRefusal>>;
  /** The password a person has now, asked again before something that somebody at their browser must not do. */
  confirm(userId: string, password: string): Promise<Outcome<{ readonly userId: string }, SignInRefusal>>;
  /**
   * From now on the person's password; unlocks the account, and ends their links and every browser they are signed in with. Rejects
   * with a refusal and changes nothing when the password breaks a rule.
   */
  choosePassword(userId: string, password: string): Promise<Outcome<true, PasswordRefusal>>;
  /** The same for whoever holds a one-time link of the person, which is used up in the same step. */
  choosePasswordWith(
    link: { readonly userId: string; readonly token: string },
    password: string,
  ): Promise<Outcome<true, PasswordRefusal | { readonly reason: 'link-gone' }>>;
}

/** Wrong passwords in a row that lock an account, and for how long: twice as long after each further one. */
const TRIES = 5;
const FIRST_LOCK_MS = 60_000;
const LONGEST_LOCK_MS = 15 * 60_000;

export function createAccounts(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly passwords: Passwords;
}): Accounts {
  const { store, clock, passwords } = deps;
  type Who = { readonly login: string } | { readonly userId: string };

  async function tryPassword(
    who: Who,
    password: string,
  ): Promise<Outcome<{ userId: string }, SignInRefusal>> {
    const now = clock.now();
    const lockedUntil = (tries: number) => lockAfter(tries, now);
    const isPossible = !isTooLong(password);
    const account = isPossible
      ? await store.commit(db => takeSignInTry(db, who, { now, lockedUntil }))
      : undefined;
    const fits = await passwords.verify(isPossible ? password : '', account?.password);
    if (!account || !fits) return refused(await refusalOf(who, account !== undefined || !isPossible));
    await store.commit(db => clearSignInTries(db, account.userId));
    return granted({ userId: account.userId });
  }

  async function refusalOf(who: Who, wasTried: boolean): Promise<SignInRefusal> {
    const account = await ('login' in who
      ? findAccountByLogin(store.db, who.login)
      : findAccount(store.db, who.userId));
    if (!account) return { reason: 'unknown-account' };
    const userId = account.id;
    if (account.disabled) return { reason: 'account-disabled', userId };
    if (account.password === undefined) return { reason: 'no-password', userId };
    return { reason: wasTried ? 'wrong-password' : 'account-locked', userId };
  }

  /** In the unit of what lets them do so. */
  async function choose<R extends { readonly reason: string }>(
    userId: string,
    password: string,
    may: (db: Db) => Promise<Outcome<true, R>>,
  ): Promise<Outcome<true, PasswordRefusal | R>> {
    const account = await findAccount(store.db, userId);
    const refusal = refusePassword(password, { login: account?.login });
    if (refusal) return refused(refusal);
    const hash = await passwords.hash(password);
    return store.commit(async db => {
      const outcome = await may(db);
      if (!outcome.ok) return outcome;
      await setPassword(db, userId, hash);
      await deleteSignInLinksOf(db, userId);
      await deletePageSessionsOf(db, userId);
      return outcome;
    });
  }

  return {
    async describe(userId) {
      const account = await findAccount(store.db, userId);
      return { login: account?.login, hasPassword: account?.password !== undefined };
    },
    signIn: (login, password) => tryPassword({ login: loginOf(login) }, password),
    confirm: (userId, password) => tryPassword({ userId }, password),
    choosePassword: (userId, password) => choose(userId, password, async () => granted(true)),
    choosePasswordWith: ({ userId, token }, password) =>
      choose(userId, password, async db => {
        const link = await takeSignInLink(db, hashPageToken(token), clock.now());
        return link?.userId === userId ? granted(true) : refused({ reason: 'link-gone' });
      }),
  };
}

/** As it is stored: people do not remember which letters of their name they wrote large. */
export function loginOf(typed: string): string {
  return typed.trim().toLowerCase();
}

function lockAfter(tries: number, now: number): number | undefined {
  if (tries < TRIES) return undefined;
  return now + Math.min(LONGEST_LOCK_MS, FIRST_LOCK_MS * 2 ** Math.min(tries - TRIES, 10));
}
