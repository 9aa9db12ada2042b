import type { Documents } from '../../agents/configuration/documents.ts';
import type { OperationHandler } from '../bind.ts';
import { savedDocument } from './saved-document.ts';

export function createDocument(documents: Documents): OperationHandler<'create_document'> {
  return async (input, { principal }) => savedDocument(await documents.create(principal, input));
}
