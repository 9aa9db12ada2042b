import type { OwnConversations } from '../../agents/delivery/own-conversations.ts';
import type { OperationHandler } from '../bind.ts';
import { conversationInfo } from './conversation-info.ts';

export function readOwnConversation(own: OwnConversations): OperationHandler<'read_own_conversation'> {
  return async ({ agentId, conversation_id }, { principal }) =>
    conversationInfo(await own.read(principal, { agentId, conversationId: conversation_id }));
}
