import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Store } from '../../store/store.ts';
import { findConversationStep } from '../../store/tables/conversation-steps.ts';
import { findConversation } from '../../store/tables/conversations.ts';
import { findOpenPause } from '../../store/tables/pauses.ts';
import { shownState } from '../conversation/snapshot.ts';
import type { WaitingStep } from '../pause/asked-pauses.ts';
import type { TurnReader } from './run-turn.ts';
import { type TurnAnswer, toTurnAnswer } from './turn-answer.ts';
import type { TaskError } from './turn-memory.ts';
import type { Turns } from './turns.ts';

/** Turns that have waited for a person, for somebody who still waits for them. */
export interface WaitedTurns {
  /**
   * What the turn comes to once it is decided about: run for this reader, or read when another was quicker. It may wait again. Rejects as
   * `runTurn` does, with `cancelled` when the wait was cancelled or nobody listens any more (`gone`), and with `conflict`
   * when the step is not there any more.
   */
  goOn(step: WaitingStep, reader: TurnReader, gone: AbortSignal): Promise<TurnAnswer>;
  /** What the conversation holds at this step; `undefined` while a turn runs. Rejects as `goOn` does. */
  read(step: WaitingStep): Promise<TurnAnswer | undefined>;
}

/** How often a turn is looked after that another has: it has no news of its own. */
const FIRST_LOOK_MS = 100;
const MAX_LOOK_MS = 2_000;

export function createWaitedTurns(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly turns: Pick<Turns, 'resumeTurn'>;
  /** Address of the platform. */
  readonly base: () => string;
  /** The node is about to stop. */
  readonly closing: AbortSignal;
}): WaitedTurns {
  const { store, clock, turns, base, closing } = deps;

  async function read({ conversationId, stepIndex }: WaitingStep): Promise<TurnAnswer | undefined> {
    const conversation = await findConversation(store.db, conversationId);
    if (!conversation) throw notThere();
    const state = shownState(conversation);
    if (state === 'IN_PROGRESS') return undefined;
    if (state === 'EXECUTION_INTERRUPTED') {
      throw new PlatformError(
        'cancelled',
        'What the call waited for was cancelled, and its conversation is over.',
      );
    }
    const step = await findConversationStep(store.db, conversationId, stepIndex);
    if (!step || stepIndex >= conversation.stepCount) throw notThere();
    const [failed] = (step.output.taskErrors ?? []) as readonly TaskError[];
    if (failed) throw new PlatformError('internal', failed.message, { details: { conversationId } });
    const waits = state === 'AWAITING_HUMAN' && stepIndex === conversation.stepCount - 1;
    const pause = waits ? await findOpenPause(store.db, conversationId) : undefined;
    return toTurnAnswer(conversation, state, step, pause && { pause, base: base() });
  }

  return {
    async goOn(step, reader, gone) {
      let waitMs = FIRST_LOOK_MS;
      for (;;) {
        const { conversationId, stepIndex } = step;
        const answer = (await turns.resumeTurn(conversationId, reader, stepIndex)) ?? (await read(step));
        if (answer) return answer;
        await clock.sleep(waitMs, AbortSignal.any([reader.signal, gone, closing])).catch(() => {
          throw new PlatformError(
            'cancelled',
            'Nobody waits for the turn any more; it goes on by itself, and the conversation will hold its answer.',
          );
        });
        waitMs = Math.min(waitMs * 2, MAX_LOOK_MS);
      }
    },

    read,
  };
}

function notThere(): PlatformError {
  return new PlatformError('conflict', 'The turn was taken back, or its conversation is no longer there.');
}
