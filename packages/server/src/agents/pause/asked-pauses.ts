import { mayAnswerInPerson, mayDecide } from '../../kernel/access.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Store } from '../../store/store.ts';
import { findConversation } from '../../store/tables/conversations.ts';
import { findOpenPause, findPause, type Pause, type Verdict } from '../../store/tables/pauses.ts';
import type { Pauses } from './pauses.ts';

/** How a decision of this caller's over MCP is written down (E-30). */
export function decidedOverMcp(principal: Principal): string {
  return `mcp:${principal.id}`;
}

/** The step of a conversation that waits, or goes on after it has waited. */
export interface WaitingStep {
  readonly conversationId: string;
  readonly stepIndex: number;
}

/** Pauses that a caller is asked about in the midst of the call that waits for them. */
export interface AskedPauses {
  /** Where the conversation waits and for what, if this caller may decide it. Without `pause` it is decided already. */
  find(
    principal: Principal,
    conversationId: string,
  ): Promise<{ readonly step: WaitingStep; readonly pause: Pause | undefined } | undefined>;
  /**
   * A pause of a conversation with this agent that the caller may decide. Rejects with `forbidden`, in the same words for one that is
   * not there.
   */
  pause(principal: Principal, agentId: string, pauseId: string | undefined): Promise<Pause>;
  /** Decides it for a caller who waits for the turn. Does nothing when it is decided already: the first answer counts. */
  decide(
    principal: Principal,
    pause: Pause,
    decision: { readonly verdict: Verdict; readonly note?: string | undefined },
  ): Promise<void>;
}

/** What an approver decides for others, or what only the person in the conversation can. */
function mayAnswer(
  principal: Principal,
  waiting: Pick<Pause, 'userId'> & Partial<Pick<Pause, 'kind'>>,
): boolean {
  return waiting.kind === 'SIGN_IN' ? mayAnswerInPerson(principal, waiting) : mayDecide(principal, waiting);
}

export function createAskedPauses(deps: {
  readonly store: Store;
  readonly pauses: Pick<Pauses, 'decide'>;
}): AskedPauses {
  const { store, pauses } = deps;
  return {
    async find(principal, conversationId) {
      const conversation = await findConversation(store.db, conversationId);
      if (!conversation) return undefined;
      const pause = await findOpenPause(store.db, conversationId);
      if (!mayAnswer(principal, pause ?? conversation)) return undefined;
      return { step: { conversationId, stepIndex: conversation.stepCount - 1 }, pause };
    },

    async pause(principal, agentId, pauseId) {
      const pause = pauseId === undefined ? undefined : await findPause(store.db, pauseId);
      if (!pause || pause.agentId !== agentId || !mayAnswer(principal, pause)) {
        throw new PlatformError('forbidden', 'There is no such question to you here.');
      }
      return pause;
    },

    async decide(principal, { id: pauseId, conversationId }, decision) {
      try {
        await pauses.decide(
          { principal, decidedBy: decidedOverMcp(principal) },
          { conversationId, pauseId, awaited: true, ...decision },
        );
      } catch (thrown) {
        const isLate =
          thrown instanceof PlatformError &&
          (thrown.kind === 'pause_changed' || thrown.kind === 'wrong_state');
        if (!isLate) throw thrown;
      }
    },
  };
}
