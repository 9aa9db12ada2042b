import { formatDocumentUri } from '@patchbay/contract/ids';
import type { Documents } from '../../agents/configuration/documents.ts';

/** What is answered about a document that was just saved. */
export function savedDocument(saved: Awaited<ReturnType<Documents['create']>>) {
  const { type, id, currentVersion: version, name, description } = saved;
  return { type, id, version, uri: formatDocumentUri({ type, id, version }), name, description };
}
