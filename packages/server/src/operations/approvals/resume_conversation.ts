import type { Pauses } from '../../agents/pause/pauses.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { OperationHandler } from '../bind.ts';
import { type ApprovalSettings, deciderOf } from './decider.ts';

export function resumeConversation(
  pauses: Pauses,
  settings: ApprovalSettings,
): OperationHandler<'resume_conversation'> {
  return async ({ conversationId, verdict: text, note, pauseId, toolDecisions }, call) => {
    const decider = deciderOf(call, settings);
    const verdict = text.trim().toUpperCase();
    if (verdict !== 'APPROVED' && verdict !== 'REJECTED') {
      throw new PlatformError('invalid', 'verdict: must be APPROVED or REJECTED.');
    }
    await pauses.decide(decider, { conversationId, verdict, note, pauseId, toolDecisions });
    return { status: 'RESUMED', conversationId, verdict };
  };
}
