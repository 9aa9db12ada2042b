import type { Variables } from '../../secrets/variables.ts';
import type { OperationHandler } from '../bind.ts';
import { variableInfo } from './variable-info.ts';

export function listVariables(variables: Variables): OperationHandler<'list_variables'> {
  return async ({ after = '', limit }) => {
    const records = await variables.list({ after, limit });
    return { count: records.length, variables: records.map(variableInfo) };
  };
}
