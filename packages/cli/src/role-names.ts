import { parseRole, ROLES, type Role } from '@patchbay/contract/roles';
import { InvalidArgumentError } from 'commander';

const SHORT_NAMES = ROLES.map(role => role.replace('patchbay-', ''));

/** For help texts: the names without what all of them begin with. */
export const ROLE_NAMES = SHORT_NAMES.join(', ');

/** An option that may be given again, and takes several separated by commas. */
export function collectRoles(text: string, before: readonly Role[] = []): readonly Role[] {
  const named = text.split(',').map(name => {
    const role = parseRole(name.trim()) ?? parseRole(`patchbay-${name.trim()}`);
    if (!role) throw new InvalidArgumentError(`Choose from ${ROLE_NAMES}.`);
    return role;
  });
  return [...new Set([...before, ...named])];
}
