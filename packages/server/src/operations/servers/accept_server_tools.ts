import { formatServerRef } from '../../connections/server/definition.ts';
import type { Registry } from '../../connections/server/registry.ts';
import type { ServersRuntime } from '../../connections/server/runtime.ts';
import type { OperationHandler } from '../bind.ts';
import { findUsable } from './find-server.ts';

export function acceptServerTools(
  registry: Registry,
  runtime: ServersRuntime,
): OperationHandler<'accept_server_tools'> {
  return async ({ tools, digests, ...named }, { principal }) => {
    const { ref } = findUsable(registry, named);
    const accepted = await runtime.accept(ref, { tools, digests, by: principal.id });
    return { server: formatServerRef(ref), count: accepted.length, accepted: [...accepted] };
  };
}
