import type { Keys } from '../../auth/key/keys.ts';
import type { OperationHandler } from '../bind.ts';

export function revokeKey(keys: Keys): OperationHandler<'revoke_key'> {
  return async ({ keyId }, { principal }) => {
    await keys.revoke(principal.id, keyId);
    return { id: keyId, revoked: true };
  };
}
