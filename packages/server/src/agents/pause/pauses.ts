import { APPROVAL_TYPES, type ConversationState } from '@patchbay/contract/operations/conversation';
import {
  approvalScopeOf,
  mayAnswerInPerson,
  mayDecide,
  mayEndWaitFor,
  maySeePause,
} from '../../kernel/access.ts';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Audit } from '../../records/audit/audit.ts';
import type { Db, Store } from '../../store/store.ts';
import {
  type ConversationRecord,
  cancelLeasedTurn,
  findConversation,
  setConversationState,
} from '../../store/tables/conversations.ts';
import { addJob } from '../../store/tables/jobs.ts';

export type { Pause, Verdict } from '../../store/tables/pauses.ts';

import {
  closePause,
  type Decision,
  findOpenPause,
  findPause,
  forgetAnswers,
  listOpenPauses,
  type Pause,
  type PauseState,
  type Verdict,
} from '../../store/tables/pauses.ts';
import { cancelCheckpoint, deleteCheckpoint } from '../../store/tables/turn-checkpoints.ts';
import { conversationForbidden, conversationNotFound } from '../conversation/conversation-errors.ts';
import { shownState } from '../conversation/snapshot.ts';
import { BY_TIMEOUT, CONTINUE_TURN } from './jobs.ts';
import { noteDecision } from './note-decision.ts';
import { BY_SIGN_IN, DECLINED, SIGNED_IN } from './sign-in.ts';
import { type CallDecision, readToolDecisions } from './tool-calls.ts';

/** The state of a conversation, and what it waits for if it does. */
export interface ApprovalStatus {
  readonly conversation: ConversationRecord;
  readonly state: ConversationState;
  readonly pause: Pause | undefined;
}

/** What is approved or rejected. */
export type Approval = Pause & { readonly kind: (typeof APPROVAL_TYPES)[number] };

/** Who decides, and how that is written down: `<user>`, or `mcp:<user>` at the operator door (E-30). */
export interface Decider {
  readonly principal: Principal;
  readonly decidedBy: string;
}

/**
 * What waits for a person, and its end. Whoever may decide is asked in one place, the same at every door (E-29). Rejects with
 * `not_found` for an unknown conversation and `forbidden` for one whose pauses are not this caller's.
 */
export interface Pauses {
  /** What is approved or rejected, longest waiting first: all of it for an admin or approver, else that of the own conversations. */
  list(principal: Principal, limit: number): Promise<Approval[]>;
  status(principal: Principal, conversationId: string): Promise<ApprovalStatus>;
  /**
   * Decides an open pause; the turn then goes on, on whichever node is free. Of several at once the first counts. Rejects with
   * `pause_changed` when `pauseId` is not the pause there is, `wrong_state` when there is none, and `invalid` as `readToolDecisions` throws.
   * What waits for somebody to sign in is rejected by them, approved by nobody, and `forbidden` to all others (C8).
   */
  decide(
    decider: Decider,
    decision: {
      readonly conversationId: string;
      readonly verdict: Verdict;
      readonly note?: string | undefined;
      readonly pauseId?: string | undefined;
      /** Somebody waits for the turn and goes on with it at once, so that its answer streams; else it goes on by itself a little later. */
      readonly awaited?: boolean | undefined;
      /** By call of a TOOL_CALL pause; the verdict counts for the others. */
      readonly toolDecisions?: Readonly<Record<string, CallDecision>> | undefined;
    },
  ): Promise<void>;
  /**
   * Ends a turn that waits, runs or has to go on, for good: nothing of the rest is done, whoever has it or takes it up. Rejects
   * with `wrong_state` when there is none.
   */
  cancel(decider: Decider, conversationId: string): Promise<void>;
  /** Has a turn go on whose person has signed in. False when the pause is decided already. */
  signedIn(pauseId: string): Promise<boolean>;
  /** Does what a pause's policy says when nobody has decided in time; nothing for one that is decided. */
  expire(pauseId: string): Promise<void>;
}

/** How far ahead of the job somebody is who waits for the turn: news reaches every node in less. */
const WAITER_FIRST_MS = 2_000;

export function createPauses(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly audit: Pick<Audit, 'append'>;
  /** Told, after the commit, where a pause was decided and what. */
  readonly onEnd?: (surface: 'mcp' | 'rest' | 'timeout', verdict: Verdict | 'CANCELLED') => void;
}): Pauses {
  const { store, clock, audit, onEnd } = deps;

  async function find(db: Db, principal: Principal, conversationId: string): Promise<ConversationRecord> {
    const conversation = await findConversation(db, conversationId);
    if (!conversation) throw conversationNotFound();
    if (!maySeePause(principal, conversation)) throw conversationForbidden();
    return conversation;
  }

  async function findToDecide(
    db: Db,
    principal: Principal,
    conversationId: string,
  ): Promise<ConversationRecord> {
    const conversation = await find(db, principal, conversationId);
    if (!mayDecide(principal, conversation)) throw decidedByAgent();
    return conversation;
  }

  async function goOn(db: Db, pause: Pause, delayMs: number): Promise<void> {
    const { conversationId } = pause;
    await setConversationState(db, conversationId, { from: 'AWAITING_HUMAN', to: 'IN_PROGRESS' });
    await addJob(db, {
      id: `${CONTINUE_TURN}/${pause.id}`,
      kind: CONTINUE_TURN,
      payload: { conversationId },
      delayMs,
    });
  }

  async function giveUp(db: Db, pause: Pause): Promise<void> {
    const { conversationId } = pause;
    await setConversationState(db, conversationId, { from: 'AWAITING_HUMAN', to: 'EXECUTION_INTERRUPTED' });
    await deleteCheckpoint(db, conversationId);
    await forgetAnswers(db, conversationId);
  }

  /** False when somebody else was quicker. */
  async function close(
    db: Db,
    pause: Pause,
    state: Exclude<PauseState, 'open'>,
    made: Pick<Decision, 'decidedBy'> & Partial<Decision>,
    delayMs = 0,
  ): Promise<boolean> {
    const decision = { verdict: undefined, note: undefined, decidedAt: clock.now(), ...made };
    if (!(await closePause(db, pause.id, state, decision))) return false;
    await noteDecision(db, audit, pause, state, decision);
    if (decision.verdict === undefined) await giveUp(db, pause);
    else await goOn(db, pause, delayMs);
    return true;
  }

  return {
    list: (principal, limit) =>
      listOpenPauses(store.db, { kinds: APPROVAL_TYPES, scope: approvalScopeOf(principal), limit }),

    async status(principal, conversationId) {
      const conversation = await find(store.db, principal, conversationId);
      const pause = await findOpenPause(store.db, conversationId);
      return { conversation, state: shownState(conversation), pause };
    },

    async decide({ principal, decidedBy }, decided) {
      const { conversationId, verdict, note, pauseId, awaited, toolDecisions } = decided;
      const delayMs = awaited ? WAITER_FIRST_MS : 0;
      await store.commit(async db => {
        const conversation = await findToDecide(db, principal, conversationId);
        const pause = await findOpenPause(db, conversationId);
        if (pauseId !== undefined && pause?.id !== pauseId) throw pauseChanged();
        if (!pause) throw nothingWaits(shownState(conversation));
        const answer = readAnswer(principal, pause, { verdict, pauseId, toolDecisions });
        const made = { verdict, note, decidedBy, ...(answer !== undefined && { answer }) };
        if (!(await close(db, pause, 'answered', made, delayMs))) throw pauseChanged();
      });
      onEnd?.(surfaceOf(decidedBy), verdict);
    },

    async cancel({ principal, decidedBy }, conversationId) {
      const waited = await store.commit(async db => {
        const conversation = await findToDecide(db, principal, conversationId);
        const pause = await findOpenPause(db, conversationId);
        if (pause?.kind === 'SIGN_IN' && !mayEndWaitFor(principal, pause)) throw conversationForbidden();
        if (pause && (await close(db, pause, 'cancelled', { decidedBy }))) return true;
        const goesOn = await cancelCheckpoint(db, conversationId);
        const runs = await cancelLeasedTurn(db, conversationId);
        if (!goesOn && !runs) throw nothingRuns(shownState(conversation));
        return false;
      });
      if (waited) onEnd?.(surfaceOf(decidedBy), 'CANCELLED');
    },

    signedIn: pauseId =>
      store.commit(async db => {
        const pause = await findPause(db, pauseId);
        if (pause?.state !== 'open' || pause.kind !== 'SIGN_IN') return false;
        const made = { verdict: 'APPROVED', decidedBy: BY_SIGN_IN, answer: SIGNED_IN } as const;
        return close(db, pause, 'answered', made, WAITER_FIRST_MS);
      }),

    async expire(pauseId) {
      const ended = await store.commit(async db => {
        const pause = await findPause(db, pauseId);
        if (pause?.state !== 'open') return undefined;
        const verdict = VERDICT_OF[pause.timeoutPolicy];
        const isClosed = await close(db, pause, 'expired', { verdict, decidedBy: BY_TIMEOUT });
        return isClosed ? (verdict ?? 'CANCELLED') : undefined;
      });
      if (ended) onEnd?.('timeout', ended);
    },
  };
}

const VERDICT_OF: Readonly<Record<Pause['timeoutPolicy'], Verdict | undefined>> = {
  AUTO_APPROVE: 'APPROVED',
  AUTO_REJECT: 'REJECTED',
  ABORT: undefined,
  WAIT_INDEFINITELY: undefined,
};

/** What is decided besides the verdict. Throws where this caller may not decide so. */
function readAnswer(
  principal: Principal,
  pause: Pause,
  decision: Parameters<typeof readToolDecisions>[1],
): unknown {
  if (pause.kind !== 'SIGN_IN') return readToolDecisions(pause, decision);
  if (!mayAnswerInPerson(principal, pause)) throw conversationForbidden();
  if (decision.verdict === 'REJECTED') return DECLINED;
  throw new PlatformError(
    'wrong_state',
    'The conversation waits for its person to sign in, which nobody approves; REJECTED has it go on without.',
    { details: { currentState: 'AWAITING_HUMAN' } },
  );
}

function surfaceOf(decidedBy: string): 'mcp' | 'rest' {
  return decidedBy.startsWith('mcp:') ? 'mcp' : 'rest';
}

function decidedByAgent(): PlatformError {
  return new PlatformError(
    'forbidden',
    'An agent made this call, and what waits for a person is decided by a person. Ask one to decide it.',
  );
}

function pauseChanged(): PlatformError {
  return new PlatformError(
    'pause_changed',
    'The conversation does not wait for this approval any more; ask get_approval_status what it waits for now.',
  );
}

function nothingWaits(state: ConversationState): PlatformError {
  return new PlatformError('wrong_state', `The conversation is ${state} and waits for no approval.`, {
    details: { currentState: state },
  });
}

function nothingRuns(state: ConversationState): PlatformError {
  return new PlatformError('wrong_state', `The conversation is ${state}: there is nothing to cancel.`, {
    details: { currentState: state },
  });
}
