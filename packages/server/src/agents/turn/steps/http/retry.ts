import { knownDataPath, readDataPath } from '../../../language/data-path.ts';
import { textOf } from '../held-values.ts';
import { type HttpCall, isSafe } from './http-call.ts';
import type { HttpOutcome } from './outcome.ts';

/** How long to wait before a call is sent again; `undefined` when it is not. `attempt` counts from 0. Milliseconds. */
export function waitBeforeRetry(
  call: HttpCall,
  outcome: HttpOutcome,
  attempt: number,
  data: Readonly<Record<string, unknown>>,
): number | undefined {
  const retry = call.postResponse?.retryApiCallInstruction;
  if (retry === undefined || attempt >= retry.maxRetries || !isDeclared(call, outcome, data))
    return undefined;
  return Math.min(retry.exponentialBackoffDelayInMillis * 2 ** attempt, MAX_WAIT_MS);
}

const MAX_WAIT_MS = 60_000;

/**
 * What may have arrived is sent again only where the configuration names the answer it got, or where asking again changes nothing
 * (A-67).
 */
function isDeclared(call: HttpCall, outcome: HttpOutcome, data: Readonly<Record<string, unknown>>): boolean {
  const { retryOnHttpCodes, responseValuePathMatchers } = call.postResponse!.retryApiCallInstruction!;
  if (outcome.kind === 'fired') return false;
  if (outcome.kind === 'failed') {
    if (outcome.code === 'CONNECT_FAILED') return true;
    return isSafe(call) && (outcome.code === 'TIMEOUT' || outcome.code === 'CONNECTION_BROKEN');
  }
  if (retryOnHttpCodes.includes(outcome.status)) return true;
  return responseValuePathMatchers.some(({ valuePath, equals, contains, trueIfNoMatch }) => {
    if (valuePath === undefined) return false;
    const text = textOf(readDataPath(data, knownDataPath(valuePath)));
    const matches =
      equals !== undefined ? text === equals : contains !== undefined && text.includes(contains);
    return matches !== trueIfNoMatch;
  });
}
