import type { Keys } from '../../auth/key/keys.ts';
import type { OperationHandler } from '../bind.ts';
import { keyInfo } from './key-info.ts';
import { ownerOf } from './owner.ts';

export function listKeys(keys: Keys): OperationHandler<'list_keys'> {
  return async ({ userId }, { principal }) => {
    const records = await keys.list(ownerOf(principal, userId));
    return { count: records.length, keys: records.map(keyInfo) };
  };
}
