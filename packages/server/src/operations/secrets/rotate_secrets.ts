import type { Vault } from '../../secrets/vault.ts';
import type { OperationHandler } from '../bind.ts';

export function rotateSecrets(vault: Vault): OperationHandler<'rotate_secrets'> {
  return async () => {
    const { count, damaged } = await vault.rotate();
    return { count, damaged: [...damaged] };
  };
}
