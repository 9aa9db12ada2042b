import type { Sharing } from '../../agents/deployment/sharing.ts';
import type { OperationHandler } from '../bind.ts';
import { sharesOf } from './shares.ts';

export function shareAgent(sharing: Sharing): OperationHandler<'share_agent'> {
  return async (input, { principal }) =>
    sharesOf(input.agentId, await sharing.share(principal, input.agentId, input.with));
}
