import type { Documents } from '../../agents/configuration/documents.ts';
import type { OperationHandler } from '../bind.ts';
import { parseResourceType } from './resource-type.ts';

export function deleteResource(documents: Documents): OperationHandler<'delete_resource'> {
  return async ({ resourceType, resourceId: id, version: expectedVersion, permanent }, { principal }) => {
    const type = parseResourceType(resourceType);
    const version = await documents.delete(principal, { type, id, expectedVersion, permanent });
    return { resourceType, resourceId: id, version, permanent, status: 200, action: 'deleted' };
  };
}
