import { formatServerRef } from '../../connections/server/definition.ts';
import type { Registry } from '../../connections/server/registry.ts';
import type { OperationHandler } from '../bind.ts';
import { refOf } from './find-server.ts';

export function removeServer(registry: Registry): OperationHandler<'remove_server'> {
  return async named => {
    const ref = refOf(named);
    return { server: formatServerRef(ref), removed: await registry.remove(ref) };
  };
}
