import { mayUseConversation } from '../../kernel/access.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Store } from '../../store/store.ts';
import { findConversationStep } from '../../store/tables/conversation-steps.ts';
import { findConversationMemory, moveConversation } from '../../store/tables/conversations.ts';
import { conversationForbidden, conversationNotFound } from '../conversation/conversation-errors.ts';
import { isEndedFromOutside } from '../conversation/conversations.ts';
import { redo, takeBack } from './turn-changes.ts';
import { CONVERSATION_END, parseCounters } from './turn-memory.ts';

/** How far a conversation can be moved back and forth. */
export interface UndoneConversation {
  readonly conversationId: string;
  readonly stepCount: number;
  readonly undoAvailable: boolean;
  readonly redoAvailable: boolean;
}

/**
 * Takes the last turn of a conversation back, with what it changed in the conversation's memory, or makes it again; what the turn
 * did in the world stays done. A new message makes what was undone past. Rejects with `wrong_state` when there is nothing to
 * move, while a turn runs and while one waits for a person.
 */
export async function moveByOneTurn(
  store: Store,
  principal: Principal,
  conversationId: string,
  direction: 'undo' | 'redo',
): Promise<UndoneConversation> {
  return store.commit(async db => {
    const found = await findConversationMemory(db, conversationId);
    if (!found) throw conversationNotFound();
    if (!mayUseConversation(principal, 'own-or-admin', found)) throw conversationForbidden();
    const { stepCount, undoneSteps } = found;
    const isPossible = direction === 'undo' ? stepCount > 1 : undoneSteps > 0;
    if (!isPossible)
      throw new PlatformError('wrong_state', `There is nothing to ${direction} in this conversation.`);
    const step = (await findConversationStep(
      db,
      conversationId,
      direction === 'undo' ? stepCount - 1 : stepCount,
    ))!;
    if (isEndedFromOutside(found.state, direction === 'undo' ? step.output : undefined)) {
      throw new PlatformError('wrong_state', 'The conversation was ended, and not by its last message.');
    }
    const memory = { properties: found.properties, counters: parseCounters(found.counters) };
    const moved = direction === 'undo' ? takeBack(memory, step) : redo(memory, step);
    const by = direction === 'undo' ? 1 : -1;
    const isMoved = await moveConversation(db, found, {
      stepCount: stepCount - by,
      undoneSteps: undoneSteps + by,
      counters: JSON.stringify(moved.counters),
      properties: JSON.stringify(moved.properties),
      ended: direction === 'redo' && step.output.actions?.includes(CONVERSATION_END) === true,
    });
    if (!isMoved) {
      throw new PlatformError(
        'wrong_state',
        `The conversation is at work or waits for a person; ${direction} it later.`,
      );
    }
    return {
      conversationId,
      stepCount: stepCount - by,
      undoAvailable: stepCount - by > 1,
      redoAvailable: undoneSteps + by > 0,
    };
  });
}
