import type { Users } from '../../auth/user/users.ts';
import type { OperationHandler } from '../bind.ts';
import { personInfo } from './person-info.ts';

export function listUsers(users: Users): OperationHandler<'list_users'> {
  return async input => {
    const people = await users.list(input);
    return {
      count: people.length,
      users: people.map(person => ({
        ...personInfo(person),
        hasPassword: person.password !== undefined,
        disabled: person.disabled,
        ...(person.lockedUntil !== undefined && { lockedUntil: person.lockedUntil }),
        createdOn: person.createdAt,
      })),
    };
  };
}
