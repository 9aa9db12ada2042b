import type { Users } from '../../auth/user/users.ts';
import type { OperationHandler } from '../bind.ts';
import { personInfo } from './person-info.ts';

/** With any credential of an admin: whoever finds that somebody must be shut out does it at once. */
export function disableUser(users: Users): OperationHandler<'disable_user'> {
  return async ({ userId }) => ({ ...personInfo(await users.disable(userId)), disabled: true });
}
