import type { DocumentType } from '@patchbay/contract/ids';
import { documentTypeOf, RESOURCE_TYPES } from '@patchbay/contract/resource-types';
import { PlatformError } from '../../kernel/errors.ts';

/** The type of document a caller means. Throws `invalid` that lists what there is (platform.md 1.3). */
export function parseResourceType(resourceType: string): DocumentType {
  const type = documentTypeOf(resourceType);
  if (type) return type;
  throw new PlatformError(
    'invalid',
    `resourceType: ${JSON.stringify(resourceType.slice(0, 80))} is unknown; supported: ${RESOURCE_TYPES.join(', ')}.`,
  );
}
