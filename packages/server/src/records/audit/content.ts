import type { SealedAuditEvent } from '../../store/tables/audit-events.ts';
import type { AuditRecord } from '../../store/tables/audit-records.ts';
import type { Chain, LinkContent } from './chain.ts';

/** All of a record that is hashed, as it is stored. The order is part of the version in `chain.ts`. */
export function contentOfRecord(chain: Chain, record: Omit<AuditRecord, 'seq' | 'hash'>): LinkContent {
  const { agentId, agentVersion, userId, environment, entries } = record;
  return { fields: [agentId, agentVersion, chain.pseudonym(userId), environment], text: entries };
}

export function contentOfEvent(chain: Chain, event: Omit<SealedAuditEvent, 'seq' | 'hash'>): LinkContent {
  const { createdAt, userId, via, operation, outcome, subject } = event;
  return { fields: [createdAt, chain.pseudonym(userId), via, operation, outcome], text: subject };
}
