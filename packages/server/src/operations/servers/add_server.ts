import type { Registry } from '../../connections/server/registry.ts';
import type { ServersRuntime } from '../../connections/server/runtime.ts';
import type { OperationHandler } from '../bind.ts';
import { serverDetails } from './server-info.ts';

export function addServer(registry: Registry, runtime: ServersRuntime): OperationHandler<'add_server'> {
  return async ({ instance, name, options, vaulted, replace, wait }, { principal, signal }) => {
    const added = await registry.add({ instance, name, options, vaulted, replace, by: principal.id });
    if (wait) await runtime.settle(added.definition.ref, signal);
    return serverDetails(added, runtime);
  };
}
