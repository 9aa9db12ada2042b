import type { Approval } from '../../agents/pause/pauses.ts';
import { toolNamesIn } from '../../agents/pause/tool-calls.ts';
import type { OperationOutput } from '../bind.ts';

type PendingApproval = OperationOutput<'list_pending_approvals'>['approvals'][number];

/** A pause under the names of platform.md 2.9. */
export function toPendingApproval(pause: Approval): PendingApproval {
  const { id, kind, conversationId, agentId, userId, openedAt, reason, timeoutPolicy, approvalTimeout } =
    pause;
  return {
    ...{ conversationId, agentId, userId, timeoutPolicy, approvalTimeout },
    pausedAt: openedAt,
    pauseId: id,
    pauseReason: reason,
    pauseType: kind,
    ...(kind === 'TOOL_CALL' && { toolNames: toolNamesIn(pause) }),
  };
}
