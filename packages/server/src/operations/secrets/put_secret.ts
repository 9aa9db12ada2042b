import type { Vault } from '../../secrets/vault.ts';
import type { OperationHandler } from '../bind.ts';
import { secretInfo } from './secret-info.ts';

export function putSecret(vault: Vault): OperationHandler<'put_secret'> {
  return async (input, { principal }) => {
    const { secret, created } = await vault.put({ ...input, by: principal.id });
    return { ...secretInfo(secret), created };
  };
}
