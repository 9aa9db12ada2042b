import type { Documents } from '../../agents/configuration/documents.ts';
import type { OperationHandler } from '../bind.ts';
import { parseResourceType } from './resource-type.ts';

export function readResource(documents: Documents): OperationHandler<'read_resource'> {
  return async ({ resourceType, resourceId, version: wanted }, { principal }) => {
    const type = parseResourceType(resourceType);
    const { version, body } = await documents.read(principal, { type, id: resourceId, version: wanted });
    return { resourceType, resourceId, version, configuration: body as Record<string, unknown> };
  };
}
