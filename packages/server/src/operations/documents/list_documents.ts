import type { Documents } from '../../agents/configuration/documents.ts';
import type { OperationHandler } from '../bind.ts';
import { shownDescriptor } from './descriptor.ts';

export function listDocuments(documents: Documents): OperationHandler<'list_documents'> {
  return async (input, { principal }) => {
    const found = await documents.list(principal, input);
    return { count: found.length, documents: found.map(document => shownDescriptor(document)) };
  };
}
