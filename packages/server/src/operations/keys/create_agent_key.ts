import type { Keys } from '../../auth/key/keys.ts';
import type { OperationHandler } from '../bind.ts';
import { keyInfo } from './key-info.ts';
import { refuseKeyHolders } from './refuse-key-holders.ts';

export function createAgentKey(keys: Keys): OperationHandler<'create_agent_key'> {
  return async (input, { principal }) => {
    refuseKeyHolders(principal, 'create_agent_key');
    const { token, record } = await keys.createAgentKey(principal, input);
    return { ...keyInfo(record), key: token };
  };
}
