import type { Keys } from '../../auth/key/keys.ts';
import type { OperationHandler } from '../bind.ts';
import { keyInfo } from './key-info.ts';
import { refuseKeyHolders } from './refuse-key-holders.ts';

export function createKey(keys: Keys): OperationHandler<'create_key'> {
  return async (input, { principal }) => {
    refuseKeyHolders(principal, 'create_key');
    const { token, record } = await keys.createUserKey(principal.id, input);
    return { ...keyInfo(record), key: token };
  };
}
