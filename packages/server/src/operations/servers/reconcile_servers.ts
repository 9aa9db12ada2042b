import type { Registry } from '../../connections/server/registry.ts';
import type { OperationHandler } from '../bind.ts';

export function reconcileServers(registry: Registry): OperationHandler<'reconcile_servers'> {
  return async ({ instance }) => {
    await registry.reconcile(instance);
    const servers = registry.servers(instance);
    return { count: servers.length, servers };
  };
}
