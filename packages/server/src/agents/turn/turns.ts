import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Store } from '../../store/store.ts';
import { deleteUnbornConversations, releaseConversationsOf } from '../../store/tables/conversations.ts';
import { deleteExpiredIdempotencyKeys } from '../../store/tables/idempotency-keys.ts';
import type { Deployments } from '../deployment/deployments.ts';
import { type Admission, admitTurn, checkRequest, type TurnClaim, type TurnRequest } from './admit-turn.ts';
import { releaseClaim, runTurn, type TurnMessage, type TurnReader } from './run-turn.ts';
import type { TurnAnswer } from './turn-answer.ts';
import { readCallerContext, type TurnContext } from './turn-context.ts';
import { createTurnstile, type Turnstile } from './turnstile.ts';

export type TurnOutcome = 'done' | 'failed' | 'timeout' | 'cancelled';

/** What turns are made of. */
export interface TurnDeps {
  readonly store: Store;
  readonly deployments: Deployments;
  readonly clock: Clock;
  /** Names this node in leases; the same after a restart. */
  readonly nodeId: string;
  readonly logger?: Logger | undefined;
  readonly turnTimeoutMs: number;
  readonly maxInputChars: number;
  /** What kind of installation this is: conditions may ask for it. */
  readonly deploymentEnv: string;
  /** How long an answer is kept for repeats of the call. */
  readonly idempotencyHours: number;
  /** Told how each turn ended and how many milliseconds it took. */
  readonly onTurnEnd?: ((outcome: TurnOutcome, ms: number) => void) | undefined;
}

/** With what all turns of this process share. */
export interface TurnParts extends TurnDeps {
  readonly turnstile: Turnstile;
  /** Aborts when the node waits no longer for its turns. */
  readonly stopping: AbortSignal;
}

/** A turn that holds its conversation. Exactly one of its functions is called, once. */
export interface ClaimedTurn {
  readonly conversationId: string;
  /** See `runTurn`. */
  run(reader: TurnReader): Promise<TurnAnswer>;
  /** Gives the turn back with nothing done. */
  release(): Promise<void>;
}

export interface Turns {
  /** Rejects with a `PlatformError` of kind `invalid` for a message no conversation could take. */
  admitTurn(request: TurnRequest): Promise<Admission<ClaimedTurn>>;
  /** Frees what a node held when it went down. Called when the node starts, before its doors open. */
  releaseLeasesOf(nodeId: string): Promise<void>;
  /**
   * Removes what is dead already, to give its room back: idempotency keys past their time, and conversations of a node that
   * went down for good before their first turn was stored.
   */
  removeLeftovers(): Promise<void>;
  /**
   * Admits no turn any more and waits until those that run have ended, whether anybody waits for them or not. What still runs
   * after `withinMs` is ended with nothing stored, and its conversation is free. Asked again, answers for the first time.
   */
  close(withinMs: number): Promise<void>;
}

/** To give back what was ended takes one commit; a store that does not take it keeps nobody from stopping. */
const GIVE_BACK_MS = 2_000;
/** Nobody reads it: a turn is told why it ended in words of its own. */
const STOPPING = Symbol('stopping');

export function createTurns(given: TurnDeps): Turns {
  const stopping = new AbortController();
  const deps: TurnParts = { ...given, turnstile: createTurnstile(), stopping: stopping.signal };
  const { store, deployments, clock } = deps;
  /** Each from the question whether it may run until it holds nothing any more. */
  const open = new Set<Promise<void>>();
  let closed: Promise<void> | undefined;

  /** Answers how to say that the turn is over. */
  function begin(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    open.add(promise);
    return () => {
      open.delete(promise);
      resolve();
    };
  }

  /** Resolves when no turn is open, or after `ms`. */
  async function untilEnded(ms: number): Promise<void> {
    const over = new AbortController();
    const late = clock.sleep(ms, over.signal).catch(() => {});
    await Promise.race([Promise.all(open), late]);
    over.abort(STOPPING);
  }

  async function stop(withinMs: number): Promise<void> {
    await untilEnded(withinMs);
    if (open.size === 0) return;
    deps.logger?.warn('Turns are ended before their time: the node stops', { turns: open.size });
    stopping.abort(STOPPING);
    await untilEnded(GIVE_BACK_MS);
    if (open.size > 0) deps.logger?.warn('Turns are left to their leases', { turns: open.size });
  }

  async function admit(
    request: TurnRequest,
    context: TurnContext,
    ended: () => void,
  ): Promise<Admission<ClaimedTurn>> {
    const admission = await store.commit(db => admitTurn(db, deps, request));
    if (admission.kind !== 'claimed') return admission;
    const message = { input: request.input, context, attachments: request.attachments ?? [] };
    return claimedTurn(admission.turn, message, ended);
  }

  async function claimedTurn(
    claim: TurnClaim,
    message: TurnMessage,
    ended: () => void,
  ): Promise<Admission<ClaimedTurn>> {
    const agent = await deployments.compiled(claim.agentId, claim.agentVersion).catch(async thrown => {
      await releaseClaim(deps, claim);
      throw thrown;
    });
    if (!agent) {
      await releaseClaim(deps, claim);
      return {
        kind: 'refused',
        refusal: { reason: 'agent_unavailable', agentId: claim.agentId, why: 'error' },
      };
    }
    return {
      kind: 'claimed',
      turn: {
        conversationId: claim.lease.conversationId,
        run: reader => measured(() => runTurn(deps, claim, agent, message, reader)).finally(ended),
        release: () => releaseClaim(deps, claim).finally(ended),
      },
    };
  }

  async function measured(run: () => Promise<TurnAnswer>): Promise<TurnAnswer> {
    const startedAt = clock.now();
    const end = (outcome: TurnOutcome) => deps.onTurnEnd?.(outcome, clock.now() - startedAt);
    try {
      const answer = await run();
      end('done');
      return answer;
    } catch (thrown) {
      const kind = thrown instanceof PlatformError ? thrown.kind : 'internal';
      end(kind === 'timeout' || kind === 'cancelled' ? kind : 'failed');
      throw thrown;
    }
  }

  return {
    async admitTurn(request) {
      checkRequest(request, deps.maxInputChars);
      const context = readCallerContext(request.context);
      if (closed) return { kind: 'refused', refusal: { reason: 'stopping' } };
      const ended = begin();
      let admission: Admission<ClaimedTurn> | undefined;
      try {
        admission = await admit(request, context, ended);
        return admission;
      } finally {
        if (admission?.kind !== 'claimed') ended();
      }
    },
    releaseLeasesOf: nodeId => store.commit(db => releaseConversationsOf(db, nodeId)),
    removeLeftovers: () =>
      store.commit(async db => {
        await deleteExpiredIdempotencyKeys(db);
        await deleteUnbornConversations(db);
      }),
    close(withinMs) {
      closed ??= stop(withinMs);
      return closed;
    },
  };
}
