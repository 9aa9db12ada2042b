import type { Documents } from '../../agents/configuration/documents.ts';
import type { OperationHandler } from '../bind.ts';

export function deleteDocument(documents: Documents): OperationHandler<'delete_document'> {
  return async ({ type, id, version: expectedVersion, permanent }, { principal }) => {
    const version = await documents.delete(principal, { type, id, expectedVersion, permanent });
    return { type, id, version, permanent };
  };
}
