import type { Registry } from '../../connections/server/registry.ts';
import type { ServersRuntime } from '../../connections/server/runtime.ts';
import type { OperationHandler } from '../bind.ts';
import { findAny } from './find-server.ts';
import { serverDetails } from './server-info.ts';

export function readServer(registry: Registry, runtime: ServersRuntime): OperationHandler<'read_server'> {
  return async input => serverDetails(findAny(registry, input), runtime);
}
