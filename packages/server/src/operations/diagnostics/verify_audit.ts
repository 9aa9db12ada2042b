import type { AuditVerifier } from '../../records/audit/verify.ts';
import type { OperationHandler } from '../bind.ts';

export function verifyAudit(verifier: AuditVerifier): OperationHandler<'verify_audit'> {
  return async ({ conversationId, after }) => {
    const { breaks, next, ...counts } =
      conversationId === undefined ? await verifier.all(after) : await verifier.conversation(conversationId);
    return {
      intact: breaks.length === 0,
      ...counts,
      breaks: [...breaks],
      ...(next !== undefined && { next }),
    };
  };
}
