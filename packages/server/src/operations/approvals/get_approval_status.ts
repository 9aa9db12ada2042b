import { conversationForbidden } from '../../agents/conversation/conversation-errors.ts';
import type { Conversations } from '../../agents/conversation/conversations.ts';
import type { ApprovalStatus, Pause, Pauses } from '../../agents/pause/pauses.ts';
import { callsIn, type ShownCall, wholeCallsIn } from '../../agents/pause/tool-calls.ts';
import { mayUseConversation } from '../../kernel/access.ts';
import type { OperationHandler } from '../bind.ts';

export function getApprovalStatus(
  pauses: Pauses,
  conversations: Conversations,
): OperationHandler<'get_approval_status'> {
  return async ({ conversationId, detail }, { principal }) => {
    const status = await pauses.status(principal, conversationId);
    if (detail === 'summary') return summaryOf(status, callsIn);
    // Who only decides for others sees the whole while there is something to decide (platform.md 2.9).
    const isTheirs = mayUseConversation(principal, 'own-or-admin', status.conversation);
    if (!isTheirs && !status.pause) throw conversationForbidden();
    const conversation = await conversations.show(status.conversation);
    return { ...summaryOf(status, wholeCallsIn), conversation };
  };
}

function summaryOf(
  { conversation, state, pause }: ApprovalStatus,
  callsOf: (pause: Pause) => readonly ShownCall[],
) {
  return {
    conversationId: conversation.id,
    state,
    pauseType: pause?.kind ?? ('' as const),
    pausedAt: pause?.openedAt ?? ('' as const),
    pauseId: pause?.id ?? '',
    pauseReason: pause?.reason ?? '',
    timeoutPolicy: pause?.timeoutPolicy ?? ('' as const),
    approvalTimeout: pause?.approvalTimeout ?? '',
    ...(pause?.kind === 'TOOL_CALL' && { pendingToolCalls: [...callsOf(pause)] }),
  };
}
