import type { Keys } from '../../auth/key/keys.ts';
import type { OperationHandler } from '../bind.ts';

export function revokeAgentKey(keys: Keys): OperationHandler<'revoke_agent_key'> {
  return async ({ agentId, keyId }, { principal }) => {
    await keys.revokeOfAgent(principal, { agentId, keyId });
    return { id: keyId, revoked: true };
  };
}
