import type { Documents } from '../../agents/configuration/documents.ts';
import type { OperationHandler } from '../bind.ts';
import { shownDescriptor } from './descriptor.ts';

export function listWorkflows(documents: Documents): OperationHandler<'list_workflows'> {
  return async (input, { principal }) => {
    const found = await documents.list(principal, { type: 'workflow', ...input });
    return { count: found.length, workflows: found.map(workflow => shownDescriptor(workflow)) };
  };
}
