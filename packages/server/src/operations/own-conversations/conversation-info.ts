import type { OwnConversation } from '../../agents/delivery/own-conversations.ts';

/** A conversation with a log as REST shows it. */
export function conversationInfo(conversation: OwnConversation) {
  const { title, metadata, closedAt } = conversation;
  return {
    conversation_id: conversation.id,
    agent_id: conversation.agentId,
    ...(title !== undefined && { title }),
    ...(metadata && { metadata: { ...metadata } }),
    state: conversation.state,
    created_at: conversation.createdAt,
    updated_at: conversation.updatedAt,
    ...(closedAt !== undefined && { closed_at: closedAt }),
  };
}
