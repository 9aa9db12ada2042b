import type { Sharing } from '../../agents/deployment/sharing.ts';
import type { OperationHandler } from '../bind.ts';
import { sharesOf } from './shares.ts';

export function listAgentShares(sharing: Sharing): OperationHandler<'list_agent_shares'> {
  return async (input, { principal }) =>
    sharesOf(input.agentId, await sharing.list(principal, input.agentId));
}
