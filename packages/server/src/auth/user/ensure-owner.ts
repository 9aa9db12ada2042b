import type { Clock } from '../../kernel/clock.ts';
import { newUserId } from '../../kernel/ids.ts';
import type { Store } from '../../store/store.ts';
import { findFirstUser, insertUser, type User } from '../../store/tables/users.ts';

/** The person this installation belongs to: made at the first start, an admin, the one the local command line acts as. */
export async function ensureOwner(deps: {
  readonly store: Store;
  readonly clock: Clock;
}): Promise<{ readonly owner: User; readonly created: boolean }> {
  return deps.store.commit(async db => {
    const existing = await findFirstUser(db);
    if (existing) return { owner: existing, created: false };
    const owner: User = { id: newUserId(), name: 'owner', roles: ['patchbay-admin'] };
    await insertUser(db, { ...owner, createdAt: deps.clock.now() });
    return { owner, created: true };
  });
}
