import type { Conversations } from '../../agents/conversation/conversations.ts';
import type { OperationHandler } from '../bind.ts';

export function readConversationLog(conversations: Conversations): OperationHandler<'read_conversation_log'> {
  return async (input, { principal }) => ({
    conversationId: input.conversationId,
    log: await conversations.readLog(principal, input),
  });
}
