import type { Role } from '@patchbay/contract/roles';
import type { Clock } from '../../kernel/clock.ts';
import { newUserId } from '../../kernel/ids.ts';
import type { Store } from '../../store/store.ts';
import { findFirstUser, insertUser, type User } from '../../store/tables/users.ts';

export interface Users {
  /**
   * The person this installation belongs to: made at the first start, an admin, the one the local command line acts as.
   */
  ensureOwner(): Promise<{ readonly owner: User; readonly created: boolean }>;
  add(person: { readonly name: string; readonly roles: readonly Role[] }): Promise<User>;
}

export function createUsers(deps: { readonly store: Store; readonly clock: Clock }): Users {
  const { store, clock } = deps;
  return {
    ensureOwner: () =>
      store.commit(async db => {
        const existing = await findFirstUser(db);
        if (existing) return { owner: existing, created: false };
        const owner: User = { id: newUserId(), name: 'owner', roles: ['patchbay-admin'] };
        await insertUser(db, { ...owner, createdAt: clock.now() });
        return { owner, created: true };
      }),

    async add({ name, roles }) {
      const user: User = { id: newUserId(), name, roles };
      await store.commit(db => insertUser(db, { ...user, createdAt: clock.now() }));
      return user;
    },
  };
}
