import type { Keys } from '../../auth/key/keys.ts';
import { scopeOf } from '../../kernel/access.ts';
import type { OperationHandler } from '../bind.ts';

export function revokeKey(keys: Keys): OperationHandler<'revoke_key'> {
  return async ({ keyId }, { principal }) => {
    const scope = scopeOf(principal);
    await keys.revoke(scope.kind === 'all' ? undefined : scope.ownerId, keyId);
    return { id: keyId, revoked: true };
  };
}
