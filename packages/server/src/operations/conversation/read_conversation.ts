import type { Conversations } from '../../agents/conversation/conversations.ts';
import type { OperationHandler } from '../bind.ts';

export function readConversation(conversations: Conversations): OperationHandler<'read_conversation'> {
  return (input, { principal }) => conversations.read(principal, input);
}
