import type { OwnConversations } from '../../agents/delivery/own-conversations.ts';
import type { OperationHandler } from '../bind.ts';

export function postMessage(own: OwnConversations): OperationHandler<'post_message'> {
  return async (input, { principal }) => {
    const { id, createdAt } = await own.post({
      principal,
      agentId: input.agentId,
      contextId: input.conversation_id,
      message: input.message,
      idempotencyKey: input.idempotency_key,
      attachments: input.attachments?.map(({ file_id }) => file_id),
      metadata: input.metadata,
    });
    return { message_id: id, created_at: createdAt };
  };
}
