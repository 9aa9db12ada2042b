import { formatConversationUri } from '@patchbay/contract/ids';
import type { Turns } from '../../agents/turn/turns.ts';
import type { OperationHandler } from '../bind.ts';
import { talk } from './talk.ts';

export function createConversation(turns: Turns): OperationHandler<'create_conversation'> {
  return async ({ agentId, environment }, call) => {
    const { conversationId } = await talk(turns, { agentId, environment }, call);
    // A conversation that starts is never busy and never over, so the answer names it.
    return {
      conversationId: conversationId!,
      conversationUri: formatConversationUri(conversationId!),
      agentId,
      environment,
    };
  };
}
