import type { Users } from '../../auth/user/users.ts';
import { mayLetPeopleIn } from '../../kernel/access.ts';
import type { OperationHandler } from '../bind.ts';
import { personInfo } from './person-info.ts';
import { refuseKeys } from './refuse-keys.ts';

export function enableUser(users: Users): OperationHandler<'enable_user'> {
  return async ({ userId }, { principal }) => {
    refuseKeys(mayLetPeopleIn(principal), 'enable_user', 'users enable');
    return { ...personInfo(await users.enable(userId)), disabled: false };
  };
}
