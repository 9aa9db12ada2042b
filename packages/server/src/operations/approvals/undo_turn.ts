import type { Turns } from '../../agents/turn/turns.ts';
import type { OperationHandler } from '../bind.ts';

export function undoTurn(turns: Turns): OperationHandler<'undo_turn'> {
  return ({ conversationId }, { principal }) => turns.move(principal, conversationId, 'undo');
}
