import { mayAnswerInPerson, mayUseConversation } from '../../kernel/access.ts';
import type { Store } from '../../store/store.ts';
import { findConversation } from '../../store/tables/conversations.ts';
import { findOpenPause, type Pause } from '../../store/tables/pauses.ts';
import type { WaitingStep } from '../pause/asked-pauses.ts';
import type { Pauses } from '../pause/pauses.ts';
import { saysCancel } from '../pause/sign-in.ts';
import type { SignIns } from '../pause/sign-ins.ts';
import type { Admission, TurnRequest } from './admit-turn.ts';
import type { ClaimedTurn, Turns } from './turns.ts';
import type { WaitedTurns } from './waited-turns.ts';

/**
 * Turns to which a message may be the answer that one of them waits for (one-system.md 6): a conversation that waits for its person to sign in
 * takes their next message as that. It says where to sign in once more, or the turn goes on, and what it comes to is the answer.
 */
export function createAnsweredTurns(deps: {
  readonly store: Store;
  readonly turns: Turns;
  readonly waited: WaitedTurns;
  readonly pauses: Pick<Pauses, 'decide'>;
  readonly signIns: SignIns;
}): Turns {
  const { store, turns, waited, pauses, signIns } = deps;

  /** True when the turn goes on: the credentials are there, or the person does not want to sign in. */
  async function isAnswered(pause: Pause, { principal, input }: TurnRequest): Promise<boolean> {
    if (await signIns.look(pause)) return true;
    if (!saysCancel(input) || !mayAnswerInPerson(principal, pause)) return false;
    const { conversationId, id: pauseId } = pause;
    await pauses.decide(
      { principal, decidedBy: principal.id },
      { conversationId, pauseId, verdict: 'REJECTED', awaited: true },
    );
    return true;
  }

  function goingOn(step: WaitingStep): ClaimedTurn {
    return {
      conversationId: step.conversationId,
      run: reader => waited.goOn(step, reader, reader.signal),
      // It goes on by itself.
      release: async () => {},
    };
  }

  return {
    ...turns,
    async admitTurn(request) {
      const admission = await turns.admitTurn(request);
      if (admission.kind !== 'refused' || admission.refusal.reason !== 'paused') return admission;
      // A message in the background waits until the conversation is free, as for any other one.
      if (admission.refusal.waitsFor.pauseType !== 'SIGN_IN' || request.delivery !== undefined)
        return admission;
      const { conversationId } = admission.refusal;
      const conversation = await findConversation(store.db, conversationId);
      const pause = await findOpenPause(store.db, conversationId);
      if (!conversation || !pause || !mayUseConversation(request.principal, request.access, conversation))
        return admission;
      const step = { conversationId, stepIndex: conversation.stepCount - 1 };
      const answered: Admission<ClaimedTurn> = { kind: 'claimed', turn: goingOn(step) };
      if (await isAnswered(pause, request)) return answered;
      const answer = await waited.read(step);
      return answer ? { kind: 'replay', answer } : answered;
    },
  };
}
