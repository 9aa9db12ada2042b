import type { Conversations } from '../../agents/conversation/conversations.ts';
import type { Audit } from '../../records/audit/audit.ts';
import type { OperationHandler } from '../bind.ts';

export function readAuditTrail(
  conversations: Conversations,
  audit: Audit,
): OperationHandler<'read_audit_trail'> {
  return async ({ conversationId, limit }, { principal }) => {
    await conversations.find(principal, conversationId);
    const entries = await audit.entriesOf(conversationId, limit);
    return {
      conversationId,
      count: entries.length,
      entries: entries.map(({ output, actions, createdAt, hash, ...entry }) => ({
        ...entry,
        output: JSON.parse(output) as Record<string, unknown>,
        actions: JSON.parse(actions) as string[],
        timestamp: createdAt,
        ...(hash !== undefined && { hmac: hash }),
      })),
    };
  };
}
