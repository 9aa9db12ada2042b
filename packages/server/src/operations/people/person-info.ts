import type { Role } from '@patchbay/contract/roles';

/** What may be shown of a person. */
export function personInfo(person: {
  readonly id: string;
  readonly name: string;
  readonly roles: readonly Role[];
  readonly login?: string | undefined;
}) {
  return {
    userId: person.id,
    name: person.name,
    ...(person.login !== undefined && { login: person.login }),
    roles: [...person.roles],
  };
}
