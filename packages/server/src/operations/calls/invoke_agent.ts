import { type AgentCalls, replyOf } from '../../agents/call/agent-calls.ts';
import type { TurnAnswer } from '../../agents/turn/turn-answer.ts';
import type { OperationHandler } from '../bind.ts';

const MAX_TIMEOUT_MS = 115_000;

export function invokeAgent(calls: AgentCalls): OperationHandler<'invoke_agent'> {
  return async (input, { principal, signal, stream }) => {
    const admitted = await calls.admit({
      principal,
      agentId: input.agentId,
      message: input.message,
      contextId: input.context_id,
      idempotencyKey: input.idempotency_key,
      attachments: input.attachments?.map(({ file_id }) => file_id),
      metadata: input.metadata,
    });
    stream?.open();
    const answer =
      admitted.kind === 'replay'
        ? admitted.answer
        : await admitted.turn.run({
            signal,
            timeLimitMs: Math.min(input.timeout_ms, MAX_TIMEOUT_MS),
            onEvent: ({ text, index }) => void stream?.send({ type: 'delta', text, index }),
          });
    const data = dataOf(answer);
    await stream?.send({ type: 'done', data });
    return { success: true, data };
  };
}

function dataOf(answer: TurnAnswer) {
  const { text, contextId } = replyOf(answer);
  return { text, context_id: contextId, is_error: false };
}
