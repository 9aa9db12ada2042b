import { formatConversationUri, formatDocumentUri } from '@patchbay/contract/ids';
import type { Conversations } from '../../agents/conversation/conversations.ts';
import { shownState } from '../../agents/conversation/snapshot.ts';
import type { OperationHandler } from '../bind.ts';

export function listConversations(conversations: Conversations): OperationHandler<'list_conversations'> {
  return async (input, { principal }) => {
    const found = await conversations.list(principal, input);
    return {
      agentId: input.agentId,
      count: found.length,
      conversations: found.map(conversation => ({
        conversationId: conversation.id,
        resource: formatConversationUri(conversation.id),
        agentName: conversation.agentName,
        userId: conversation.userId,
        agentResource: formatDocumentUri({
          type: 'agent',
          id: conversation.agentId,
          version: conversation.agentVersion,
        }),
        conversationStepSize: conversation.stepCount,
        environment: conversation.environment,
        conversationState: shownState(conversation),
        createdOn: conversation.createdAt,
        lastModifiedOn: conversation.updatedAt,
      })),
    };
  };
}
