import { changedParts } from '../../../../connections/call/approval.ts';
import type { ApprovalBinding } from '../../../../connections/call/outcome.ts';
import type { Approval } from './callable-tool.ts';

/** Why a call is not the one that was approved, or is no longer; `undefined` where it is. `words` are for what has changed. */
export function whyNotApproved(
  approval: Approval,
  now: ApprovalBinding,
  at: number,
  words: Readonly<Record<keyof ApprovalBinding, string>>,
): { readonly code: 'APPROVAL_EXPIRED' | 'APPROVAL_CHANGED'; readonly message: string } | undefined {
  if (at >= approval.expiresAt) {
    const message = 'the approval of this call has run out, so it was not sent; call it again to ask anew';
    return { code: 'APPROVAL_EXPIRED', message };
  }
  const changed = changedParts(approval, now, words);
  if (changed.length === 0) return undefined;
  const message = `this call is not the one that was approved, so it was not sent: ${changed.join(' and ')} changed since; call it again to ask anew`;
  return { code: 'APPROVAL_CHANGED', message };
}
