import type { Environment } from '@patchbay/contract/environments';
import type { ErrorKind } from '@patchbay/contract/errors';
import type { ConversationState, TalkResult } from '@patchbay/contract/operations/conversation';
import type { ConversationStep } from '../../store/tables/conversation-steps.ts';
import { toSnapshot } from '../conversation/snapshot.ts';
import { textsOf } from '../conversation/texts.ts';
import { pendingMessageOf, waitsFor } from '../pause/tool-calls.ts';

/** What a finished turn answers (platform.md 2.2, conversation response object). */
export type TurnAnswer = TalkResult & {
  readonly conversationId: string;
  readonly agentId: string;
  readonly environment: Environment;
  /** The texts of the answer, joined by a space. */
  readonly agentResponse: string;
  readonly conversationState: ConversationState;
};

/** What a repeat of a call is told whose turn failed after it had acted. */
export interface FailedAnswer {
  readonly failed: { readonly kind: ErrorKind; readonly message: string };
}

/** With `pause` for a turn that waits: the answer is what was said so far, and says so. */
export function toTurnAnswer(
  conversation: Parameters<typeof toSnapshot>[0],
  state: ConversationState,
  step: ConversationStep,
  pause?: Parameters<typeof pendingMessageOf>[0],
): TurnAnswer {
  const texts = textsOf(step.output.output ?? []);
  return {
    conversationId: conversation.id,
    agentId: conversation.agentId,
    environment: conversation.environment,
    agentResponse: texts.join(' '),
    ...(texts.length > 1 && { agentResponseParts: texts }),
    quickReplies: (step.output.quickReplies ?? []).map(reply => reply.value),
    actions: step.output.actions ?? [],
    conversationState: state,
    ...(pause && pausedStatus(pause)),
    response: toSnapshot(conversation, state, [step], { detailed: false }),
  };
}

function pausedStatus(
  pause: Parameters<typeof pendingMessageOf>[0],
): Pick<TalkResult, 'status' | 'suggestNextTool' | 'message' | 'pauseType' | 'tools'> {
  return {
    status: 'PAUSED_FOR_APPROVAL',
    ...waitsFor(pause),
    suggestNextTool: 'resume_conversation',
    message: pendingMessageOf(pause),
  };
}
