import type { Turns } from '../../agents/turn/turns.ts';
import type { OperationHandler } from '../bind.ts';
import { talk } from './talk.ts';

export function chatWithAgent(turns: Turns): OperationHandler<'chat_with_agent'> {
  return ({ agentId, conversationId, environment, message }, call) =>
    talk(turns, { agentId, conversationId, environment, input: message }, call);
}
