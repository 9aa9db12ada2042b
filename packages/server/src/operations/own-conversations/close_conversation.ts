import type { OwnConversations } from '../../agents/delivery/own-conversations.ts';
import type { OperationHandler } from '../bind.ts';

export function closeConversation(own: OwnConversations): OperationHandler<'close_conversation'> {
  return async ({ agentId, conversation_id }, { principal }) => {
    await own.close(principal, { agentId, conversationId: conversation_id });
    return {};
  };
}
