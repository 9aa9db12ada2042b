import type { Pauses } from '../../agents/pause/pauses.ts';
import type { OperationHandler } from '../bind.ts';
import { type ApprovalSettings, deciderOf } from './decider.ts';

export function cancelConversation(
  pauses: Pauses,
  settings: ApprovalSettings,
): OperationHandler<'cancel_conversation'> {
  return async ({ conversationId }, call) => {
    await pauses.cancel(deciderOf(call, settings), conversationId);
    return { status: 'CANCELLED', conversationId };
  };
}
