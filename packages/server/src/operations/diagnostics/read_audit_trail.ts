import type { Conversations } from '../../agents/conversation/conversations.ts';
import { mayReadEveryTrail } from '../../kernel/access.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Audit } from '../../records/audit/audit.ts';
import type { OperationHandler } from '../bind.ts';

export function readAuditTrail(
  conversations: Conversations,
  audit: Audit,
): OperationHandler<'read_audit_trail'> {
  return async ({ conversationId, limit }, { principal }) => {
    const entries = await read(principal, conversationId, limit);
    return {
      conversationId,
      count: entries.length,
      entries: entries.map(({ actions, createdAt, hash, ...entry }) => ({
        ...entry,
        actions: [...actions],
        timestamp: createdAt,
        ...(hash !== undefined && { hmac: hash }),
      })),
    };
  };

  /** A conversation that was deleted has left its entries. */
  async function read(principal: Principal, conversationId: string, limit: number) {
    try {
      await conversations.find(principal, conversationId);
    } catch (thrown) {
      const isGone = thrown instanceof PlatformError && thrown.kind === 'not_found';
      const left = isGone && mayReadEveryTrail(principal) ? await audit.entriesOf(conversationId, limit) : [];
      if (left.length > 0) return left;
      throw thrown;
    }
    return audit.entriesOf(conversationId, limit);
  }
}
