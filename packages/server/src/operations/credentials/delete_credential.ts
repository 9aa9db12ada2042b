import type { PersonalCredentials } from '../../connections/credential/personal-credentials.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { OperationHandler } from '../bind.ts';

export function deleteCredential(credentials: PersonalCredentials): OperationHandler<'delete_credential'> {
  return async ({ name }, { principal }) => {
    if (await credentials.remove({ userId: principal.id, name })) return { name, deleted: true };
    throw new PlatformError('not_found', `name: you have given no credential "${name}".`);
  };
}
