import { PlatformError } from '../../kernel/errors.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { OperationHandler } from '../bind.ts';

export function deleteSecret(vault: Vault): OperationHandler<'delete_secret'> {
  return async ({ name }) => {
    if (await vault.remove(name)) return { name, deleted: true };
    throw new PlatformError('not_found', `name: there is no secret "${name}".`);
  };
}
