import type { TalkResult } from '@patchbay/contract/operations/conversation';
import { toRefusalError } from '../../agents/turn/refusal.ts';
import type { TurnReader } from '../../agents/turn/run-turn.ts';
import type { Turns } from '../../agents/turn/turns.ts';
import type { OperationCall } from '../bind.ts';

/** What agents are told of a message that comes by an operation (platform.md 1.7). */
export const OPERATOR_CONTEXT = { mcp: 'true' };

/**
 * One message of an operator: admitted, run, answered. A conversation that cannot take it now answers a status, which is a
 * result and no error; a stale reply is never returned (platform.md 2.2).
 */
export async function talk(
  turns: Turns,
  request: Omit<Parameters<Turns['admitTurn']>[0], 'principal' | 'access' | 'context'>,
  call: OperationCall,
): Promise<TalkResult> {
  const { principal } = call;
  const context = OPERATOR_CONTEXT;
  return answerTo(await turns.admitTurn({ ...request, principal, access: 'own-or-admin', context }), call);
}

/** Runs the turn of an admission, or says why there is none. */
export async function answerTo(
  admission: Awaited<ReturnType<Turns['admitTurn']>>,
  { signal, progress, stream }: OperationCall,
  onTrace?: TurnReader['onTrace'],
): Promise<TalkResult> {
  const result = await resultOf(admission, {
    signal,
    onTrace,
    onStart: () => stream?.open(),
    onEvent({ text, index }) {
      progress(text);
      void stream?.send({ type: 'delta', text, index });
    },
  });
  stream?.open();
  if (result.pauseType === 'SIGN_IN' && result.message !== undefined) {
    const index = (result.agentResponseParts?.length ?? 1) - 1;
    progress(result.message);
    await stream?.send({ type: 'delta', text: result.message, index });
  }
  await stream?.send({ type: 'done', result });
  return result;
}

async function resultOf(
  admission: Awaited<ReturnType<Turns['admitTurn']>>,
  { onStart, ...reader }: TurnReader & { readonly onStart: () => void },
): Promise<TalkResult> {
  switch (admission.kind) {
    case 'claimed':
      onStart();
      return admission.turn.run(reader);
    case 'replay':
      return admission.answer;
    case 'refused': {
      const { refusal } = admission;
      if (refusal.reason === 'busy') {
        return { status: 'BUSY', conversationId: refusal.conversationId, message: refusal.message };
      }
      if (refusal.reason === 'paused') {
        const { conversationId, agentId, message } = refusal;
        return {
          status: 'PAUSED_FOR_APPROVAL',
          ...{ conversationId, agentId, conversationState: 'AWAITING_HUMAN', ...refusal.waitsFor },
          ...{ suggestNextTool: 'resume_conversation', message },
        };
      }
      if (refusal.reason === 'not_active') {
        return {
          status: 'CONVERSATION_NOT_ACTIVE',
          conversationId: refusal.conversationId,
          conversationState: refusal.state,
          message: refusal.message,
        };
      }
      throw toRefusalError(refusal);
    }
  }
}
