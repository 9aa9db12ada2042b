import type { Registry } from '../../connections/server/registry.ts';
import type { ServersRuntime } from '../../connections/server/runtime.ts';
import type { OperationHandler } from '../bind.ts';
import { serverSummary } from './server-info.ts';

export function listServers(registry: Registry, runtime: ServersRuntime): OperationHandler<'list_servers'> {
  return async ({ instance }) => {
    const { servers, unusable } = registry.list(instance);
    const all = [...servers, ...unusable].map(found => serverSummary(found, runtime));
    return { count: all.length, servers: all };
  };
}
