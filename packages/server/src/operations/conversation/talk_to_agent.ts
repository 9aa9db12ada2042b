import type { Turns } from '../../agents/turn/turns.ts';
import type { OperationHandler } from '../bind.ts';
import { talk } from './talk.ts';

export function talkToAgent(turns: Turns): OperationHandler<'talk_to_agent'> {
  return ({ agentId, conversationId, message }, call) =>
    talk(turns, { agentId, conversationId, input: message }, call);
}
