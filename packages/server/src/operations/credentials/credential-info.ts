import type { StoredCredential } from '../../connections/credential/personal-credentials.ts';
import { formatServerRef, type ServerDefinition } from '../../connections/server/definition.ts';
import type { Registry } from '../../connections/server/registry.ts';

/** Names of credentials that are kept here, with the servers that are used with each. */
export function serversByCredential(
  registry: Pick<Registry, 'list' | 'credentialsOf'>,
): ReadonlyMap<string, readonly string[]> {
  const servers = registry.list().servers.flatMap(({ definition }) => wantedBy(definition, registry));
  const named = Map.groupBy(servers, ({ name }) => name);
  return new Map([...named].map(([name, all]) => [name, all.map(({ server }) => server)]));
}

function wantedBy({ auth, ref }: ServerDefinition, { credentialsOf }: Pick<Registry, 'credentialsOf'>) {
  // Where the configuration has people's credentials, nobody gives one here.
  if (auth.kind !== 'principal' || credentialsOf(ref.scope)) return [];
  return [{ name: auth.credentialName, server: formatServerRef(ref) }];
}

/** What may be shown of a credential: nothing to use it with. */
export function credentialInfo(
  name: string,
  servers: readonly string[],
  record: StoredCredential['record'] | undefined,
) {
  return {
    name,
    servers: [...servers],
    ...(record && { givenOn: record.createdAt, changedOn: record.updatedAt }),
  };
}
