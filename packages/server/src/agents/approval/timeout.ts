import { z } from 'zod';
import { parseDuration } from '../language/duration.ts';

const MAX_APPROVAL_DAYS = 3_650;

/** What happens to a pause nobody decides about in time. */
export const timeoutPolicy = z.enum(['AUTO_APPROVE', 'AUTO_REJECT', 'ABORT', 'WAIT_INDEFINITELY']);

export type TimeoutPolicy = z.output<typeof timeoutPolicy>;

/** How long a pause waits before that. */
export const approvalTimeout = z.string().superRefine((text, context) => {
  const ms = parseDuration(text);
  if (ms === undefined) context.addIssue('must be an ISO-8601 duration such as PT30M or P2D');
  else if (ms <= 0 || ms > MAX_APPROVAL_DAYS * 86_400_000) {
    context.addIssue(`must be longer than nothing and ${MAX_APPROVAL_DAYS} days at most`);
  }
});

export const pauseReason = z.string().max(500, 'must have at most 500 characters');

export interface Timeout {
  readonly timeoutPolicy?: TimeoutPolicy | undefined;
  readonly approvalTimeout?: string | undefined;
}

/** What is missing, as a phrase about `approvalTimeout`; `otherwise` is the one that counts where it does not say its own. */
export function missingTimeout(
  { timeoutPolicy: policy, approvalTimeout: own }: Timeout,
  otherwise?: string,
): string | undefined {
  if (policy === undefined || policy === 'WAIT_INDEFINITELY') return undefined;
  return (own ?? otherwise) === undefined ? `is needed with ${policy}: after how long?` : undefined;
}

const STRICTNESS: Readonly<Record<TimeoutPolicy, number>> = {
  WAIT_INDEFINITELY: 3,
  ABORT: 2,
  AUTO_REJECT: 1,
  AUTO_APPROVE: 0,
};

/** Negative where the first is the stricter: the one that leaves more to a person, and of two that approve by themselves the later one. */
export function byStrictness(one: Timeout, other: Timeout): number {
  const [a, b] = [one, other].map(({ timeoutPolicy: policy }) => STRICTNESS[policy ?? 'WAIT_INDEFINITELY']);
  if (a !== b) return b! - a!;
  const [first, second] = [one, other].map(({ approvalTimeout: text }) => parseDuration(text ?? ''));
  const difference = (first ?? Number.MAX_VALUE) - (second ?? Number.MAX_VALUE);
  return one.timeoutPolicy === 'AUTO_APPROVE' ? -difference : difference;
}
