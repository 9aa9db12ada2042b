import type { Turns } from '../../agents/turn/turns.ts';
import type { OperationHandler } from '../bind.ts';

export function redoTurn(turns: Turns): OperationHandler<'redo_turn'> {
  return ({ conversationId }, { principal }) => turns.move(principal, conversationId, 'redo');
}
