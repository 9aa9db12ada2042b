import { formatDocumentUri } from '@patchbay/contract/ids';
import type { Documents } from '../../agents/configuration/documents.ts';
import type { OperationHandler } from '../bind.ts';

export function readDocument(documents: Documents): OperationHandler<'read_document'> {
  return async (wanted, { principal }) => {
    const { type, id, version, body, createdBy, createdAt } = await documents.read(principal, wanted);
    return {
      type,
      id,
      version,
      uri: formatDocumentUri({ type, id, version }),
      createdBy,
      createdOn: createdAt,
      body: body as Record<string, unknown>,
    };
  };
}
