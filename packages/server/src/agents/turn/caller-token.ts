import { mayActAsCaller } from '../../kernel/access.ts';
import type { Store } from '../../store/store.ts';
import { findOwnerOfAgent } from '../../store/tables/agents.ts';
import type { StepTools } from '../step/step.ts';
import type { TurnClaim } from './admit-turn.ts';

/** May the agent use what is this person's alone: the token they come with, and their credentials at servers? */
export async function actsFor({ db }: Pick<Store, 'db'>, agentId: string, userId: string): Promise<boolean> {
  const owner = await findOwnerOfAgent(db, agentId);
  return owner !== undefined && mayActAsCaller(userId, owner);
}

/** What gives the steps of a turn the token of its caller: for an address of this platform, where the agent may act as them. */
export function callerTokenOf(
  store: Pick<Store, 'db'>,
  { callerToken, userId, agentId }: Pick<TurnClaim, 'callerToken' | 'userId' | 'agentId'>,
): StepTools['callerToken'] {
  return async url => {
    const token = callerToken?.releaseTo(url);
    return token !== undefined && (await actsFor(store, agentId, userId)) ? token : undefined;
  };
}
