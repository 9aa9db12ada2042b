import type { Keys } from '../../auth/key/keys.ts';
import type { OperationHandler } from '../bind.ts';
import { keyInfo } from './key-info.ts';

export function listKeys(keys: Keys): OperationHandler<'list_keys'> {
  return async (_input, { principal }) => {
    const records = await keys.list(principal.id);
    return { count: records.length, keys: records.map(keyInfo) };
  };
}
