import type { Keys } from '../../auth/key/keys.ts';
import type { OperationHandler } from '../bind.ts';
import { keyInfo } from './key-info.ts';
import { ownerOf } from './owner.ts';
import { refuseKeyHolders } from './refuse-key-holders.ts';

export function createKey(keys: Keys): OperationHandler<'create_key'> {
  return async ({ userId, ...request }, { principal }) => {
    refuseKeyHolders(principal, 'create_key');
    const { token, record } = await keys.createUserKey(ownerOf(principal, userId), request);
    return { ...keyInfo(record), key: token };
  };
}
