import type { Environment } from '@patchbay/contract/environments';
import type { ConversationState, TalkResult } from '@patchbay/contract/operations/conversation';
import type { ConversationStep } from '../../store/tables/conversation-steps.ts';
import { toSnapshot } from '../conversation/snapshot.ts';
import { textsOf } from '../conversation/texts.ts';

/** What a finished turn answers (platform.md 2.2, conversation response object). */
export type TurnAnswer = TalkResult & {
  readonly conversationId: string;
  readonly agentId: string;
  readonly environment: Environment;
  /** The texts of the answer, joined by a space. */
  readonly agentResponse: string;
  readonly conversationState: ConversationState;
};

export function toTurnAnswer(
  conversation: Parameters<typeof toSnapshot>[0],
  state: ConversationState,
  step: ConversationStep,
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
    response: toSnapshot(conversation, state, [step], { detailed: false }),
  };
}
