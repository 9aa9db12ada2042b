import type { Sharing } from '../../agents/deployment/sharing.ts';
import type { OperationHandler } from '../bind.ts';
import { sharesOf } from './shares.ts';

export function unshareAgent(sharing: Sharing): OperationHandler<'unshare_agent'> {
  return async (input, { principal }) =>
    sharesOf(input.agentId, await sharing.unshare(principal, input.agentId, input.with));
}
