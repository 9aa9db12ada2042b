import type { StoredSecret } from '../../secrets/vault.ts';

/** What may be shown of a secret: everything but its value. */
export function secretInfo(record: StoredSecret['secret']) {
  return {
    name: record.name,
    description: record.description,
    allowedAgents: [...record.allowedAgents],
    checksum: record.checksum,
    createdBy: record.createdBy,
    createdOn: record.createdAt,
    modifiedBy: record.modifiedBy,
    modifiedOn: record.modifiedAt,
    ...(record.lastAccessedAt !== undefined && { lastAccessedOn: record.lastAccessedAt }),
  };
}
