import type { Users } from '../../auth/user/users.ts';
import { mayLetPeopleIn } from '../../kernel/access.ts';
import type { OperationHandler } from '../bind.ts';
import { personInfo } from './person-info.ts';
import { refuseKeys } from './refuse-keys.ts';

export function setUserRoles(users: Users): OperationHandler<'set_user_roles'> {
  return async ({ userId, roles }, { principal }) => {
    refuseKeys(mayLetPeopleIn(principal), 'set_user_roles', 'users roles');
    return personInfo(await users.setRoles(userId, [...new Set(roles)]));
  };
}
