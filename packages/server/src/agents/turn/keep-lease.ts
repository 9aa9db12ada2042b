import type { Clock } from '../../kernel/clock.ts';
import { Fault, PlatformError } from '../../kernel/errors.ts';

/** How long a claim lasts unrenewed: after a crash another node may take over when it is past. */
export const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 5_000;

/** Nobody sees it; a reason of our own spares the abort an error with a stack, once a turn. */
const STOPPED = Symbol('stopped');

/** Watches over a running turn. */
export interface LeaseKeeper {
  /** Aborts with a `PlatformError` (timeout, cancelled, unavailable when the node stops), or with a `Fault` when the lease is lost. */
  readonly signal: AbortSignal;
  /**
   * Resolves when no renewal is under way any more, or at once for a turn that was aborted: nothing of it is stored, and who
   * waits for it must not wait for a database that is silent. The signal stays as it is.
   */
  stop(): Promise<void>;
}

/** What somebody else holds by now must not be written by us. */
export function leaseLost(conversationId: string): Fault {
  return new Fault('lease_lost', 'Another node has taken the conversation over, or somebody has ended it.', {
    data: { conversationId },
    told: new PlatformError(
      'conflict',
      'The conversation was ended or taken over while the agent was answering; read it to see what it holds.',
      { details: { conversationId } },
    ),
  });
}

/** Renews a turn's lease until it is stopped, and ends the turn at its time limit, when the caller goes away, or when the node stops. */
export function keepLease(options: {
  readonly clock: Clock;
  readonly conversationId: string;
  readonly timeLimitMs: number;
  readonly cancelled: AbortSignal;
  /** The node stops and waits no longer. */
  readonly stopping: AbortSignal;
  /** Says also when somebody has cancelled the turn. */
  readonly renew: () => Promise<'renewed' | 'lost' | 'cancelled'>;
}): LeaseKeeper {
  const { clock, conversationId, timeLimitMs, cancelled, stopping } = options;
  const turn = new AbortController();
  const over = new AbortController();

  const onCancelled = () =>
    turn.abort(new PlatformError('cancelled', 'The call was cancelled; nothing of it was stored.'));
  if (cancelled.aborted) onCancelled();
  else cancelled.addEventListener('abort', onCancelled);

  const onStopping = () =>
    turn.abort(
      new PlatformError(
        'unavailable',
        'Patchbay stopped before the agent had answered; nothing of this message was stored, so it can be sent again.',
      ),
    );
  if (stopping.aborted) onStopping();
  else stopping.addEventListener('abort', onStopping);

  async function limitTime(): Promise<void> {
    if (!(await slept(clock, timeLimitMs, over.signal))) return;
    turn.abort(
      new PlatformError(
        'timeout',
        `The agent did not answer within ${timeLimitMs / 1000} seconds; nothing of this message was stored, so it can be sent again.`,
      ),
    );
  }

  async function renewAgainAndAgain(): Promise<void> {
    while (await slept(clock, RENEW_EVERY_MS, over.signal)) {
      // A renewal that fails is no reason to stop: the commit is fenced, and the next renewal may work.
      const renewed = await options.renew().catch(() => 'renewed' as const);
      if (renewed === 'lost') return turn.abort(leaseLost(conversationId));
      if (renewed === 'cancelled') return onCancelled();
    }
  }

  void limitTime();
  const renewing = renewAgainAndAgain();
  return {
    signal: turn.signal,
    async stop() {
      cancelled.removeEventListener('abort', onCancelled);
      stopping.removeEventListener('abort', onStopping);
      over.abort(STOPPED);
      if (!turn.signal.aborted) await renewing;
    },
  };
}

/** False when the sleep was ended early. */
async function slept(clock: Clock, ms: number, ended: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, ended);
    return true;
  } catch {
    return false;
  }
}
