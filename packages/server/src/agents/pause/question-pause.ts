import { newPauseId } from '../../kernel/ids.ts';
import type { NewPause } from '../../store/tables/pauses.ts';

/** The pause that a step asks for. */
export function newQuestionPause(
  turn: {
    readonly conversationId: string;
    readonly agentId: string;
    readonly userId: string;
    readonly at: number;
  },
  question: Omit<NewPause, 'id' | 'conversationId' | 'agentId' | 'userId' | 'openedAt'>,
): NewPause {
  const { at, ...whose } = turn;
  return { id: newPauseId(), ...whose, ...question, openedAt: at };
}
