import type { Role } from '@patchbay/contract/roles';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { newUserId } from '../../kernel/ids.ts';
import type { Db, Store } from '../../store/store.ts';
import {
  type Account,
  findAccount,
  insertAccount,
  listAccounts,
  setDisabled,
  setLogin,
  setPassword,
} from '../../store/tables/accounts.ts';
import { revokeGrantsOf } from '../../store/tables/grants.ts';
import { revokeKeysOf } from '../../store/tables/keys.ts';
import { deletePageSessionsOf } from '../../store/tables/page-sessions.ts';
import { findOrInsertServerSecret, findServerSecret } from '../../store/tables/server-secrets.ts';
import { deleteSignInLinksOf } from '../../store/tables/sign-in-links.ts';
import { findFirstUser, insertUser, lockUser, type User, updateUserRoles } from '../../store/tables/users.ts';
import { refusePassword } from './password-rules.ts';
import type { Passwords } from './passwords.ts';

/** Who there is. What is about one person rejects with a `PlatformError` of kind `not_found` when there is none of that id. */
export interface Users {
  /**
   * The person this installation belongs to: made at the first start, an admin, the one the local command line acts as.
   */
  ensureOwner(): Promise<{ readonly owner: User; readonly created: boolean }>;
  /** Rejects with `conflict` when the login is taken, and with `invalid` when the password breaks a rule. */
  add(person: {
    readonly name: string;
    readonly roles: readonly Role[];
    readonly login?: string | undefined;
    readonly password?: string | undefined;
  }): Promise<User>;
  /** In the order of their ids. */
  list(page: {
    readonly login?: string | undefined;
    readonly after?: string | undefined;
    readonly limit: number;
  }): Promise<(Account & { readonly createdAt: number })[]>;
  /** Exactly these from now on, for every key and session of the person. `conflict` where the owner would be no admin any more. */
  setRoles(userId: string, roles: readonly Role[]): Promise<Account>;
  /**
   * Takes the password away, with every one-time link, every browser the person is signed in with and what they allow clients, and unlocks the
   * account; their keys stay.
   * `conflict` for who has no login and is given none, and for a login that is somebody else's, or another one than the person has.
   */
  resetPassword(userId: string, login?: string): Promise<Account>;
  /**
   * Ends at once, on all nodes, whatever opens something for the person: keys, those of their agents, what they allow clients, browsers
   * and links; nothing new opens. `conflict` for the owner.
   */
  disable(userId: string): Promise<Account>;
  /** Signing in works again. What was ended stays ended. */
  enable(userId: string): Promise<Account>;
}

/** Name and login of who owns the installation. */
/** Secret of the server that says who it is. */
const OWNER_ID = 'owner-id';
const OWNER = 'owner';

export function createUsers(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly passwords: Passwords;
}): Users {
  const { store, clock, passwords } = deps;

  /** In one unit, in which nobody else changes the person. */
  function change(userId: string, unit: (db: Db, account: Account) => Promise<void>): Promise<Account> {
    return store.commit(async db => {
      await lockUser(db, userId);
      const account = await findAccount(db, userId);
      if (!account) throw new PlatformError('not_found', `userId: there is no person "${userId}".`);
      await unit(db, account);
      return (await findAccount(db, userId)) ?? account;
    });
  }

  async function isOwner(db: Db, userId: string): Promise<boolean> {
    const chosen = await findServerSecret(db, OWNER_ID);
    // Before that was kept, it was who came first.
    const ownerId = chosen ? Buffer.from(chosen).toString() : (await findFirstUser(db))?.id;
    return ownerId === userId;
  }

  return {
    ensureOwner: () =>
      store.commit(async db => {
        const existing = await findFirstUser(db);
        if (existing) {
          await insertAccount(db, { userId: existing.id, login: OWNER });
          return { owner: existing, created: false };
        }
        // Of two nodes that start at the same moment the second waits here, and gets the id of the first.
        const id = newUserId();
        const chosen = await findOrInsertServerSecret(db, OWNER_ID, Buffer.from(id), clock.now());
        const owner: User = { id: Buffer.from(chosen).toString(), name: OWNER, roles: ['patchbay-admin'] };
        const created = owner.id === id;
        if (created) {
          await insertUser(db, { ...owner, createdAt: clock.now() });
          await insertAccount(db, { userId: owner.id, login: OWNER });
        }
        return { owner, created };
      }),

    async add({ name, roles, login, password }) {
      const user: User = { id: newUserId(), name, roles };
      const hash = password === undefined ? undefined : await hashOf(passwords, password, login);
      await store.commit(async db => {
        await insertUser(db, { ...user, createdAt: clock.now() });
        if (login === undefined) return;
        if (!(await insertAccount(db, { userId: user.id, login, password: hash }))) throw loginTaken(login);
      });
      return user;
    },

    list: page => listAccounts(store.db, page),

    setRoles: (userId, roles) =>
      change(userId, async db => {
        if (!roles.includes('patchbay-admin') && (await isOwner(db, userId))) {
          throw new PlatformError('conflict', 'roles: the owner of the platform stays a patchbay-admin.');
        }
        await updateUserRoles(db, userId, roles);
      }),

    resetPassword: (userId, login) =>
      change(userId, async (db, account) => {
        await ensureLogin(db, account, login);
        await setPassword(db, userId, undefined);
        await endSignIns(db, userId);
        // Whoever had the password may have allowed something with it.
        await revokeGrantsOf(db, userId, clock.now());
      }),

    disable: userId =>
      change(userId, async db => {
        if (await isOwner(db, userId)) {
          throw new PlatformError('conflict', 'userId: the owner of the platform cannot be shut out.');
        }
        await setDisabled(db, userId, true);
        await endSignIns(db, userId);
        await revokeKeysOf(db, userId, clock.now());
        await revokeGrantsOf(db, userId, clock.now());
      }),

    enable: userId => change(userId, db => setDisabled(db, userId, false)),
  };
}

async function ensureLogin(db: Db, account: Account, wanted: string | undefined): Promise<void> {
  if (account.login !== undefined) {
    if (wanted === undefined || wanted === account.login) return;
    throw new PlatformError('conflict', `login: this person signs in as "${account.login}".`);
  }
  if (wanted === undefined)
    throw new PlatformError('conflict', 'userId: this person has no login here; say which with login.');
  if (!(await setLogin(db, account.id, wanted))) throw loginTaken(wanted);
}

function loginTaken(login: string): PlatformError {
  return new PlatformError('conflict', `login: somebody signs in as "${login}" already.`);
}

async function endSignIns(db: Db, userId: string): Promise<void> {
  await deletePageSessionsOf(db, userId);
  await deleteSignInLinksOf(db, userId);
}

const RULES = {
  'too-short': 'password: needs 12 characters or more.',
  'too-long': 'password: may have 256 characters at most.',
  'too-easy': 'password: would be guessed soon; choose one that is less regular.',
};

async function hashOf(passwords: Passwords, password: string, login: string | undefined): Promise<string> {
  const refusal = refusePassword(password, { login });
  if (refusal) throw new PlatformError('invalid', RULES[refusal.reason]);
  return passwords.hash(password);
}
