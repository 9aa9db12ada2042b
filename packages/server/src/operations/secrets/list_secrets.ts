import type { Vault } from '../../secrets/vault.ts';
import type { OperationHandler } from '../bind.ts';
import { secretInfo } from './secret-info.ts';

export function listSecrets(vault: Vault): OperationHandler<'list_secrets'> {
  return async ({ after = '', limit }) => {
    const records = await vault.list({ after, limit });
    return { count: records.length, secrets: records.map(secretInfo) };
  };
}
