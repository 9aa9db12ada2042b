import type { Conversations } from '../../agents/conversation/conversations.ts';
import type { OperationHandler } from '../bind.ts';

export function listConversations(conversations: Conversations): OperationHandler<'list_conversations'> {
  return (input, { principal }) => conversations.list(principal, input);
}
