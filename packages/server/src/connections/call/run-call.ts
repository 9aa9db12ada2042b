import type { Clock } from '../../kernel/clock.ts';
import { type CallCost, formatServerRef } from '../server/definition.ts';
import { SessionError, SignInNeeded } from '../session/failure.ts';
import { type CallInProgress, type CallStep, LateRefusal, type OutboundCall } from './outbound-call.ts';
import { type CallOutcome, type CallRecord, type Ended, wordsFor } from './outcome.ts';

/** Told of a call, however it ends, and of why it has no answer. */
export type OnCall = (record: CallRecord, reason: string | undefined) => void;

/**
 * Takes a call through the table and measures it, however it ends. Resolves with what it came to; rejects with the reason of the call's
 * signal, and with what is our own fault.
 */
export async function runCall(
  steps: readonly CallStep[],
  call: OutboundCall,
  { clock, onCall }: { readonly clock: Clock; readonly onCall: OnCall },
): Promise<CallOutcome> {
  const startedAt = clock.now();
  const state: CallInProgress = { call, arguments: call.arguments, attempts: 0 };
  let isTold = false;
  const measure = (ended: Ended) => {
    const record = recordOf(state, ended, clock.now() - startedAt);
    if (!isTold) onCall(record, 'message' in ended ? ended.message : undefined);
    isTold = true;
    return { ...ended, record };
  };
  const interrupt = () => call.onInterrupted?.(measure(interrupted(state)).record);
  call.signal.addEventListener('abort', interrupt);
  try {
    return measure(await passThrough(steps, state));
  } catch (thrown) {
    call.signal.throwIfAborted();
    if (thrown instanceof LateRefusal) return measure(thrown.ended);
    if (thrown instanceof SignInNeeded) return measure(signInNeeded(call, thrown));
    if (!(thrown instanceof SessionError)) throw thrown;
    return measure({
      kind: 'failed',
      failure: thrown.kind,
      reached: thrown.reached,
      message: thrown.message,
    });
  } finally {
    call.signal.removeEventListener('abort', interrupt);
  }
}

function interrupted({ attempts }: CallInProgress): Ended {
  return {
    kind: 'failed',
    failure: 'INTERRUPTED',
    reached: attempts === 0 ? 'no' : 'unknown',
    message: 'it was cancelled, or its turn is over',
  };
}

function signInNeeded({ server }: OutboundCall, { credential, message, lacking }: SignInNeeded): Ended {
  return { kind: 'needs-sign-in', server: formatServerRef(server.ref), credential, message, ...lacking };
}

function recordOf({ call, attempts, raw }: CallInProgress, ended: Ended, ms: number): CallRecord {
  const words = wordsFor(ended);
  return {
    server: formatServerRef(call.server.ref),
    tool: call.tool,
    ...words,
    durationMs: Math.max(0, Math.round(ms)),
    attempts,
    costUsd: words.reached === 'no' ? undefined : costOf(call.server.cost, raw),
  };
}

/** From the beginning once more where the connection was given up before anything was sent: by a credential that was renewed, or a new address. */
async function passThrough(steps: readonly CallStep[], state: CallInProgress): Promise<Ended> {
  return passOnce(steps, state).catch(thrown => {
    if (!isGivenUp(thrown) || state.attempts > 1) throw thrown;
    state.arguments = state.call.arguments;
    state.attempts = 0;
    return passOnce(steps, state);
  });
}

function isGivenUp(thrown: unknown): boolean {
  return thrown instanceof SessionError && thrown.kind === 'INTERRUPTED' && thrown.reached === 'no';
}

async function passOnce(steps: readonly CallStep[], state: CallInProgress): Promise<Ended> {
  for (const step of steps) {
    state.call.signal.throwIfAborted();
    const ended = await step.run(state);
    if (ended) return ended;
  }
  throw new SessionError('PROTOCOL_ERROR', 'yes', 'the table of an outbound call ends without an answer');
}

/** A call that may have arrived costs what it costs. A function that fails does not fail the call (W-105). It sees the raw result, before any cut (W-103). */
function costOf(cost: CallCost | undefined, raw: unknown): CallRecord['costUsd'] {
  if (typeof cost !== 'function') return cost?.usd;
  try {
    const { usd } = cost(raw);
    return Number.isFinite(usd) && usd >= 0 ? usd : 'unknown';
  } catch {
    return 'unknown';
  }
}
