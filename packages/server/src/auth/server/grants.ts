import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Store } from '../../store/store.ts';
import { type GrantRecord, listGrantsOf, revokeGrant } from '../../store/tables/grants.ts';

/** What people have allowed clients, for those people. */
export interface Grants {
  /** What holds now, newest first. */
  list(userId: string): Promise<GrantRecord[]>;
  /** On every node at once. Rejects with `not_found` where this person has allowed no such thing. */
  revoke(userId: string, grantId: string): Promise<void>;
}

/** A person who has allowed more than this looks at the newest. */
const MAX_LISTED = 500;

export function createGrants({ store, clock }: { readonly store: Store; readonly clock: Clock }): Grants {
  return {
    list: userId => listGrantsOf(store.db, { userId, now: clock.now(), limit: MAX_LISTED }),
    async revoke(userId, id) {
      const revoked = await store.commit(db => revokeGrant(db, { id, userId, at: clock.now() }));
      if (!revoked) {
        throw new PlatformError('not_found', `grantId: you have allowed nothing under the id "${id}".`);
      }
    },
  };
}
