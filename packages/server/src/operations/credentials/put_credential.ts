import type { PersonalCredentials } from '../../connections/credential/personal-credentials.ts';
import type { Registry } from '../../connections/server/registry.ts';
import type { OperationHandler } from '../bind.ts';
import { credentialInfo, serversByCredential } from './credential-info.ts';

export function putCredential(
  credentials: PersonalCredentials,
  registry: Registry,
): OperationHandler<'put_credential'> {
  return async ({ name, token }, { principal }) => {
    const { record, created } = await credentials.put({ userId: principal.id, name }, token);
    const servers = serversByCredential(registry).get(name) ?? [];
    return { ...credentialInfo(name, servers, record), created };
  };
}
