import type { Role } from '@patchbay/contract/roles';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { newUserId } from '../../kernel/ids.ts';
import type { Store } from '../../store/store.ts';
import { insertAccount } from '../../store/tables/accounts.ts';
import { findOrInsertServerSecret } from '../../store/tables/server-secrets.ts';
import { findFirstUser, insertUser, type User, updateUserRoles } from '../../store/tables/users.ts';

export interface Users {
  /**
   * The person this installation belongs to: made at the first start, an admin, the one the local command line acts as.
   */
  ensureOwner(): Promise<{ readonly owner: User; readonly created: boolean }>;
  add(person: { readonly name: string; readonly roles: readonly Role[] }): Promise<User>;
  /** Exactly these from now on, for every key of the person. */
  setRoles(userId: string, roles: readonly Role[]): Promise<void>;
}

/** Name and login. */
const OWNER = 'owner';

export function createUsers(deps: { readonly store: Store; readonly clock: Clock }): Users {
  const { store, clock } = deps;
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
        const chosen = await findOrInsertServerSecret(db, 'owner-id', Buffer.from(id), clock.now());
        const owner: User = { id: Buffer.from(chosen).toString(), name: OWNER, roles: ['patchbay-admin'] };
        const created = owner.id === id;
        if (created) {
          await insertUser(db, { ...owner, createdAt: clock.now() });
          await insertAccount(db, { userId: owner.id, login: OWNER });
        }
        return { owner, created };
      }),

    async add({ name, roles }) {
      const user: User = { id: newUserId(), name, roles };
      await store.commit(db => insertUser(db, { ...user, createdAt: clock.now() }));
      return user;
    },

    async setRoles(userId, roles) {
      const found = await store.commit(db => updateUserRoles(db, userId, roles));
      if (!found) throw new PlatformError('not_found', `userId: there is no person "${userId}".`);
    },
  };
}
