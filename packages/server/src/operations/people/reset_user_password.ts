import type { SignInLinks } from '../../auth/page/sign-in-links.ts';
import type { Users } from '../../auth/user/users.ts';
import { mayLetPeopleIn } from '../../kernel/access.ts';
import type { OperationHandler } from '../bind.ts';
import { personInfo } from './person-info.ts';
import { refuseKeys } from './refuse-keys.ts';

export function resetUserPassword(users: Users, links: SignInLinks): OperationHandler<'reset_user_password'> {
  return async ({ userId, login }, { principal }) => {
    refuseKeys(mayLetPeopleIn(principal), 'reset_user_password', 'users reset');
    const person = await users.resetPassword(userId, login);
    const { url, expiresAt } = await links.make(userId, 'password');
    return { ...personInfo(person), link: url, linkExpiresOn: expiresAt };
  };
}
