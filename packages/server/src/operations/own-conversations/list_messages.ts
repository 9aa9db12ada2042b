import type { MessageReader } from '../../agents/delivery/message-reader.ts';
import type { OwnConversations } from '../../agents/delivery/own-conversations.ts';
import type { OperationHandler } from '../bind.ts';
import { messagePage } from '../message-page.ts';

export function listMessages(
  own: OwnConversations,
  reader: MessageReader,
): OperationHandler<'list_messages'> {
  return async ({ agentId, conversation_id, ...page }, { principal }) => {
    const { id } = await own.read(principal, { agentId, conversationId: conversation_id });
    return messagePage(reader, id, page);
  };
}
