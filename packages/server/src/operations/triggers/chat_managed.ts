import type { AdmitManaged } from '../../agents/trigger/managed-chat.ts';
import type { OperationHandler } from '../bind.ts';
import { answerTo, OPERATOR_CONTEXT } from '../conversation/talk.ts';

export function chatManaged(admit: AdmitManaged): OperationHandler<'chat_managed'> {
  return async ({ intent, userId, message, environment: preferred }, call) => {
    const said = { intent, userId, input: message, environment: preferred };
    const { admission, agentId, environment } = await admit(call.principal, said, {
      context: OPERATOR_CONTEXT,
    });
    const answer = await answerTo(admission, call);
    return { environment, conversationId: answer.conversationId, agentId, userId, intent, ...answer };
  };
}
