import type { Pauses } from '../../agents/pause/pauses.ts';
import type { OperationHandler } from '../bind.ts';
import { toPendingApproval } from './pending-approval.ts';

const DEFAULT = 200;
const MAX = 1_000;

export function listPendingApprovals(pauses: Pauses): OperationHandler<'list_pending_approvals'> {
  return async ({ limit }, { principal }) => {
    const approvals = await pauses.list(principal, limitOf(limit));
    return { count: approvals.length, approvals: approvals.map(toPendingApproval) };
  };
}

function limitOf(text: string | number): number {
  const number = Math.trunc(Number(text));
  return number >= 1 ? Math.min(number, MAX) : DEFAULT;
}
