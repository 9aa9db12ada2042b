import type { Audit } from '../../records/audit/audit.ts';
import type { OperationHandler } from '../bind.ts';

export function listAuditEvents(audit: Audit): OperationHandler<'list_audit_events'> {
  return async query => {
    const events = await audit.events(query);
    return {
      count: events.length,
      events: events.map(({ createdAt, subject, hash, ...event }) => ({
        ...event,
        timestamp: createdAt,
        subject: JSON.parse(subject) as Record<string, unknown>,
        hmac: hash,
      })),
    };
  };
}
