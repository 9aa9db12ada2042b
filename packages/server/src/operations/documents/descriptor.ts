import { formatDocumentUri } from '@patchbay/contract/ids';
import type { Documents } from '../../agents/configuration/documents.ts';

type Descriptor = Awaited<ReturnType<Documents['list']>>[number];

/** How lists describe a document: by its latest version, or by the one that is named. */
export function shownDescriptor(document: Descriptor, version = document.currentVersion) {
  return {
    resource: formatDocumentUri({ type: document.type, id: document.id, version }),
    name: document.name,
    description: document.description,
    createdBy: document.createdBy,
    createdOn: document.createdAt,
    lastModifiedBy: document.modifiedBy,
    lastModifiedOn: document.modifiedAt,
  };
}
