import { PlatformError } from '../../kernel/errors.ts';
import type { Variables } from '../../secrets/variables.ts';
import type { OperationHandler } from '../bind.ts';

export function deleteVariable(variables: Variables): OperationHandler<'delete_variable'> {
  return async ({ name }) => {
    if (await variables.remove(name)) return { name, deleted: true };
    throw new PlatformError('not_found', `name: there is no variable "${name}".`);
  };
}
