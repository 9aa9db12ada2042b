import type { OwnConversations } from '../../agents/delivery/own-conversations.ts';
import type { OperationHandler } from '../bind.ts';
import { conversationInfo } from './conversation-info.ts';

export function listOwnConversations(own: OwnConversations): OperationHandler<'list_own_conversations'> {
  return async (input, { principal }) => {
    const found = await own.list(principal, input);
    return { count: found.length, conversations: found.map(conversationInfo) };
  };
}
