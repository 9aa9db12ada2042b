import { conversationForbidden } from '../../agents/conversation/conversation-errors.ts';
import type { Conversations } from '../../agents/conversation/conversations.ts';
import type { ApprovalStatus, Pauses } from '../../agents/pause/pauses.ts';
import { mayUseConversation } from '../../kernel/access.ts';
import type { OperationHandler } from '../bind.ts';

export function getApprovalStatus(
  pauses: Pauses,
  conversations: Conversations,
): OperationHandler<'get_approval_status'> {
  return async ({ conversationId, detail }, { principal }) => {
    const status = await pauses.status(principal, conversationId);
    if (detail === 'summary') return summaryOf(status);
    // Who only decides for others sees the whole while there is something to decide (platform.md 2.9).
    const isTheirs = mayUseConversation(principal, 'own-or-admin', status.conversation);
    if (!isTheirs && !status.pause) throw conversationForbidden();
    const conversation = await conversations.show(status.conversation);
    return { ...summaryOf(status), conversation };
  };
}

function summaryOf({ conversation, state, pause }: ApprovalStatus) {
  return {
    conversationId: conversation.id,
    state,
    pauseType: pause?.kind ?? ('' as const),
    pausedAt: pause?.openedAt ?? ('' as const),
    pauseId: pause?.id ?? '',
    pauseReason: pause?.reason ?? '',
    timeoutPolicy: pause?.timeoutPolicy ?? ('' as const),
    approvalTimeout: pause?.approvalTimeout ?? '',
  };
}
