import { formatDocumentUri } from '@patchbay/contract/ids';
import type { Documents } from '../../agents/configuration/documents.ts';
import type { OperationHandler } from '../bind.ts';
import { parseJsonArgument } from '../json-argument.ts';
import { parseResourceType } from './resource-type.ts';

export function updateResource(documents: Documents): OperationHandler<'update_resource'> {
  return async ({ resourceType, resourceId: id, version: expectedVersion, config }, { principal }) => {
    const type = parseResourceType(resourceType);
    const body = parseJsonArgument('config', config);
    const { currentVersion } = await documents.update(principal, { type, id, expectedVersion, body });
    return {
      resourceType,
      resourceId: id,
      previousVersion: currentVersion - 1,
      newVersion: currentVersion,
      resourceUri: formatDocumentUri({ type, id, version: currentVersion }),
      status: 200,
      action: 'updated',
    };
  };
}
