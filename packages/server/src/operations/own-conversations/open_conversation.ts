import type { OwnConversations } from '../../agents/delivery/own-conversations.ts';
import type { OperationHandler } from '../bind.ts';
import { conversationInfo } from './conversation-info.ts';

export function openConversation(own: OwnConversations): OperationHandler<'open_conversation'> {
  return async (input, { principal }) => conversationInfo(await own.open(principal, input));
}
