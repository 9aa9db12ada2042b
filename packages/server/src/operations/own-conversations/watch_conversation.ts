import type { MessageReader } from '../../agents/delivery/message-reader.ts';
import type { OwnConversations } from '../../agents/delivery/own-conversations.ts';
import type { OperationHandler } from '../bind.ts';
import { watchLog } from '../message-page.ts';

export function watchConversation(
  own: OwnConversations,
  reader: MessageReader,
): OperationHandler<'watch_conversation'> {
  return async ({ agentId, conversation_id, since }, call) => {
    const address = { agentId, conversationId: conversation_id };
    const { id } = await own.read(call.principal, address);
    const isOver = async () => (await own.read(call.principal, address)).state === 'closed';
    return watchLog(reader, { id, since, isOver, over: 'channel_closed' }, call);
  };
}
