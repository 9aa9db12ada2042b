import { formatDocumentUri } from '@patchbay/contract/ids';
import type { Documents } from '../../agents/configuration/documents.ts';
import type { OperationHandler } from '../bind.ts';
import { parseJsonArgument } from '../json-argument.ts';
import { parseResourceType } from './resource-type.ts';

export function createResource(documents: Documents): OperationHandler<'create_resource'> {
  return async ({ resourceType, config }, { principal }) => {
    const type = parseResourceType(resourceType);
    const body = parseJsonArgument('config', config);
    const { id, currentVersion: version } = await documents.create(principal, { type, body });
    return {
      resourceType,
      resourceId: id,
      version,
      resourceUri: formatDocumentUri({ type, id, version }),
      status: 201,
      action: 'created',
    };
  };
}
