import type { Documents } from '../../agents/configuration/documents.ts';
import type { OperationHandler } from '../bind.ts';
import { savedDocument } from './saved-document.ts';

export function updateDocument(documents: Documents): OperationHandler<'update_document'> {
  return async ({ version: expectedVersion, ...change }, { principal }) => {
    const saved = savedDocument(await documents.update(principal, { ...change, expectedVersion }));
    return { ...saved, previousVersion: saved.version - 1 };
  };
}
