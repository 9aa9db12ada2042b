import type { PersonalCredentials } from '../../connections/credential/personal-credentials.ts';
import type { Registry } from '../../connections/server/registry.ts';
import type { OperationHandler } from '../bind.ts';
import { credentialInfo, serversByCredential } from './credential-info.ts';

export function listCredentials(
  credentials: PersonalCredentials,
  registry: Registry,
): OperationHandler<'list_credentials'> {
  return async (_input, { principal }) => {
    const records = await credentials.list(principal.id);
    const byName = new Map(records.map(record => [record.name, record]));
    const servers = serversByCredential(registry);
    const names = [...new Set([...servers.keys(), ...byName.keys()])].sort();
    return {
      count: names.length,
      credentials: names.map(name => credentialInfo(name, servers.get(name) ?? [], byName.get(name))),
    };
  };
}
