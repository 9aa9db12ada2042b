import type { Grants } from '../../auth/server/grants.ts';
import type { OperationHandler } from '../bind.ts';

export function revokeGrant(grants: Grants): OperationHandler<'revoke_grant'> {
  return async ({ grantId }, { principal }) => {
    await grants.revoke(principal.id, grantId);
    return { id: grantId, revoked: true };
  };
}
