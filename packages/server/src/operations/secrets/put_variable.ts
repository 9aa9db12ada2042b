import type { Variables } from '../../secrets/variables.ts';
import type { OperationHandler } from '../bind.ts';
import { variableInfo } from './variable-info.ts';

export function putVariable(variables: Variables): OperationHandler<'put_variable'> {
  return async (input, { principal }) => {
    const { variable, created } = await variables.put({ ...input, by: principal.id });
    return { ...variableInfo(variable), created };
  };
}
