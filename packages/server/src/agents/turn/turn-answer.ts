import type { Environment } from '@patchbay/contract/environments';
import type { ErrorKind } from '@patchbay/contract/errors';
import type { ConversationState, TalkResult } from '@patchbay/contract/operations/conversation';
import type { ConversationStep } from '../../store/tables/conversation-steps.ts';
import { toSnapshot } from '../conversation/snapshot.ts';
import { textsOf } from '../conversation/texts.ts';
import { CANCEL, signInText } from '../pause/sign-in.ts';
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

/** What a turn waits for, and where the platform is: that is where a person signs in. */
interface Waiting {
  readonly pause: Parameters<typeof signInText>[0] & Parameters<typeof pendingMessageOf>[0];
  readonly base: string;
}

/** Does its conversation wait for a person? */
export function isWaiting({ conversationState }: Pick<TurnAnswer, 'conversationState'>): boolean {
  return conversationState === 'AWAITING_HUMAN';
}

/**
 * With `waiting` for a turn that waits: the answer is what was said so far, and says so. What only the person in the conversation can do is said like
 * anything else, and their next message is the answer (one-system.md 6).
 */
export function toTurnAnswer(
  conversation: Parameters<typeof toSnapshot>[0],
  state: ConversationState,
  step: ConversationStep,
  waiting?: Waiting,
): TurnAnswer {
  const asked = waiting?.pause.kind === 'SIGN_IN' ? signInText(waiting.pause, waiting.base) : undefined;
  const texts = [...textsOf(step.output.output ?? []), ...(asked === undefined ? [] : [asked])];
  return {
    conversationId: conversation.id,
    agentId: conversation.agentId,
    environment: conversation.environment,
    agentResponse: texts.join(' '),
    ...(texts.length > 1 && { agentResponseParts: texts }),
    quickReplies: [
      ...(step.output.quickReplies ?? []).map(reply => reply.value),
      ...(asked === undefined ? [] : [CANCEL]),
    ],
    actions: step.output.actions ?? [],
    conversationState: state,
    ...(asked === undefined
      ? waiting && pausedStatus(waiting.pause)
      : ({ pauseType: 'SIGN_IN', message: asked } as const)),
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
