import type { MintedKey } from '../../auth/key/keys.ts';

/** What may be shown of a key after it was made: nothing to use it with. */
export function keyInfo(record: MintedKey['record']) {
  return {
    id: record.id,
    kind: record.kind,
    name: record.name,
    prefix: record.prefix,
    scopes: [...record.scopes],
    shared: record.shared,
    ...(record.agentId !== undefined && { agentId: record.agentId }),
    createdOn: record.createdAt,
    ...(record.expiresAt !== undefined && { expiresOn: record.expiresAt }),
    ...(record.lastUsedAt !== undefined && { lastUsedOn: record.lastUsedAt }),
  };
}
