import {
  formatServerRef,
  type ServerDefinition,
  type ServerRef,
} from '../../connections/server/definition.ts';
import type { RegisteredServer, Registry, UnusableServer } from '../../connections/server/registry.ts';
import { PlatformError } from '../../kernel/errors.ts';

/** What an operation is told of a server. */
export interface Named {
  readonly instance: string;
  readonly name: string;
}

export function refOf({ instance, name }: Named): ServerRef {
  return { scope: instance, name };
}

/** The server, or the stored one that cannot be used. Throws `not_found`. */
export function findAny(registry: Registry, named: Named): RegisteredServer | UnusableServer {
  const ref = refOf(named);
  const found = registry.find(ref);
  if (found) return found;
  const unusable = registry.list(ref.scope).unusable.find(one => one.ref.name === ref.name);
  if (unusable) return unusable;
  throw new PlatformError(
    'not_found',
    `There is no server ${formatServerRef({ scope: ref.scope, name: ref.name.slice(0, 60) })}; list_servers says which there are.`,
  );
}

/** The definition of a server that can be used. Throws `not_found`, with the reason where one of that name cannot be used. */
export function findUsable(registry: Registry, named: Named): ServerDefinition {
  const found = findAny(registry, named);
  if ('definition' in found) return found.definition;
  throw new PlatformError('not_found', `${formatServerRef(found.ref)} cannot be used: ${found.reason}`);
}
