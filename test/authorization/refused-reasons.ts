import type { TestPlatform } from '@patchbay/testing/platform';
import { listAuditEvents } from '../../packages/server/src/store/tables/audit-events.ts';

/** Why somebody was refused so far, by the audit trail: the first of each kind is written at once. */
export async function refusedReasons({ platform }: TestPlatform): Promise<unknown[]> {
  const events = await listAuditEvents(platform.store.db, { limit: 1_000 });
  return events
    .filter(({ operation }) => operation === 'access_refused')
    .map(({ subject }) => (JSON.parse(subject) as { reason: string }).reason);
}
