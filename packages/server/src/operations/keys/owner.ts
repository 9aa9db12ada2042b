import { mayManageKeysOf } from '../../kernel/access.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';

/** Whose keys a call is about. Throws `forbidden` for those of somebody else, unless an admin asks. */
export function ownerOf(principal: Principal, userId: string | undefined): string {
  if (userId === undefined || mayManageKeysOf(principal, userId)) return userId ?? principal.id;
  throw new PlatformError('forbidden', 'userId: the keys of others are for admins.');
}
