import { mayActAsCaller } from '../../kernel/access.ts';
import type { Store } from '../../store/store.ts';
import { findOwnerOfAgent } from '../../store/tables/agents.ts';
import type { StepTools } from '../step/step.ts';
import type { TurnClaim } from './admit-turn.ts';

/** What gives the steps of a turn the token of its caller: for an address of this platform, where the agent may act as them. */
export function callerTokenOf(
  { db }: Pick<Store, 'db'>,
  { callerToken, userId, agentId }: Pick<TurnClaim, 'callerToken' | 'userId' | 'agentId'>,
): StepTools['callerToken'] {
  return async url => {
    const token = callerToken?.releaseTo(url);
    if (token === undefined) return undefined;
    const owner = await findOwnerOfAgent(db, agentId);
    return owner && mayActAsCaller(userId, owner) ? token : undefined;
  };
}
