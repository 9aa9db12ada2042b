import type { SignInLinks } from '../../auth/page/sign-in-links.ts';
import type { Users } from '../../auth/user/users.ts';
import { mayLetPeopleIn } from '../../kernel/access.ts';
import type { OperationHandler } from '../bind.ts';
import { personInfo } from './person-info.ts';
import { refuseKeys } from './refuse-keys.ts';

export function createUser(users: Users, links: SignInLinks): OperationHandler<'create_user'> {
  return async ({ login, name = login, roles, password }, { principal }) => {
    refuseKeys(mayLetPeopleIn(principal), 'create_user', 'users add');
    const user = await users.add({ login, name, roles: [...new Set(roles)], password });
    const person = personInfo({ ...user, login });
    if (password !== undefined) return person;
    const { url, expiresAt } = await links.make(user.id, 'password');
    return { ...person, link: url, linkExpiresOn: expiresAt };
  };
}
