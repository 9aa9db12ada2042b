import type { SealedAuditEntry } from '../../store/tables/audit-entries.ts';
import type { SealedAuditEvent } from '../../store/tables/audit-events.ts';
import type { Chain, LinkContent } from './chain.ts';

/** All of an entry that is hashed, as it is stored. The order is part of the version in `chain.ts`. */
export function contentOfEntry(chain: Chain, entry: Omit<SealedAuditEntry, 'seq' | 'hash'>): LinkContent {
  return [
    entry.id,
    entry.agentId,
    entry.agentVersion,
    chain.pseudonym(entry.userId),
    entry.environment,
    entry.stepIndex,
    entry.taskIndex,
    entry.taskId,
    entry.taskType,
    entry.durationMs,
    entry.input ?? null,
    entry.output,
    entry.actions,
    entry.createdAt,
  ];
}

export function contentOfEvent(chain: Chain, event: Omit<SealedAuditEvent, 'seq' | 'hash'>): LinkContent {
  return [
    event.createdAt,
    chain.pseudonym(event.userId),
    event.via,
    event.operation,
    event.outcome,
    event.subject,
  ];
}
