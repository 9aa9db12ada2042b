import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { SafeFetch } from '../../kernel/safe-fetch.ts';
import type { Audit } from '../../records/audit/audit.ts';
import type { References } from '../../secrets/references.ts';
import type { Variables } from '../../secrets/variables.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { Db, Store } from '../../store/store.ts';
import {
  type ConversationLease,
  deleteUnbornConversations,
  releaseConversationsOf,
} from '../../store/tables/conversations.ts';
import { readDescriptor } from '../../store/tables/documents.ts';
import { listEffects, takeOverEffects } from '../../store/tables/effects.ts';
import { deleteExpiredIdempotencyKeys, moveIdempotencyKey } from '../../store/tables/idempotency-keys.ts';
import { addJob } from '../../store/tables/jobs.ts';
import { findPause } from '../../store/tables/pauses.ts';
import { claimCheckpoint, listCutOffTurns } from '../../store/tables/turn-checkpoints.ts';
import type { Capabilities } from '../deployment/capabilities.ts';
import type { CompiledAgent } from '../deployment/compiled-agent.ts';
import type { Deployments } from '../deployment/deployments.ts';
import type { CallModel } from '../model/model.ts';
import { CONTINUE_TURN } from '../pause/jobs.ts';
import type { McpTools } from '../step/step.ts';
import {
  type Admission,
  admitTurn,
  checkRequest,
  type ResumedTurn,
  type TurnClaim,
  type TurnRequest,
} from './admit-turn.ts';
import { type AgentSituations, createAgentSituations } from './agent-situations.ts';
import type { TurnCheckpoint, TurnMessage } from './checkpoint.ts';
import { LEASE_MS } from './keep-lease.ts';
import { endCutOffTurn, releaseClaim, runTurn, type TurnReader } from './run-turn.ts';
import type { StoredTurn } from './stored-turn.ts';
import type { TurnAnswer } from './turn-answer.ts';
import { readCallerContext, type TurnContext } from './turn-context.ts';
import { createTurnstile, type Turnstile } from './turnstile.ts';
import { moveByOneTurn, type UndoneConversation } from './undo.ts';

/** Takes back the claim of a turn that is not the one that was asked for. */
const OTHER_STEP = Symbol('another step');

export type TurnOutcome = 'done' | 'failed' | 'timeout' | 'cancelled';

/** What turns are made of. */
export interface TurnDeps {
  readonly store: Store;
  readonly deployments: Deployments;
  readonly audit: Pick<Audit, 'seal'>;
  readonly clock: Clock;
  /** Names this node in leases; the same after a restart. */
  readonly nodeId: string;
  readonly logger?: Logger | undefined;
  readonly turnTimeoutMs: number;
  readonly maxInputChars: number;
  /** Address of the platform, for people; see `PublicAddress`. */
  readonly base: () => string;
  /** What kind of installation this is: conditions may ask for it. */
  readonly deploymentEnv: string;
  /** Finds agents by what they can do. */
  readonly capabilities: Capabilities;
  /** How long an answer is kept for repeats of the call. */
  readonly idempotencyHours: number;
  readonly vault: Pick<Vault, 'put'>;
  readonly references: Pick<References, 'compile' | 'resolve'>;
  /** What templates know as `vars`. */
  readonly variables: Pick<Variables, 'values'>;
  readonly fetch: SafeFetch;
  readonly mcp: McpTools;
  readonly model: CallModel;
  /**
   * Belongs to the unit that stores a turn with a delivery or a log. False when nobody wants the turn any more: one that has done
   * nothing outside is then not stored.
   */
  readonly onStored?: ((db: Db, turn: StoredTurn) => Promise<boolean>) | undefined;
  /** Told how each turn ended and how many milliseconds it took. */
  readonly onTurnEnd?: ((outcome: TurnOutcome, ms: number) => void) | undefined;
}

/** With what all turns of this process share. */
export interface TurnParts extends TurnDeps {
  readonly turnstile: Turnstile;
  readonly situations: AgentSituations;
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
  /** Throws a `PlatformError` of kind `invalid` for a message no conversation could take. */
  check(request: TurnRequest): void;
  /** Rejects as `check` throws. */
  admitTurn(request: TurnRequest): Promise<Admission<ClaimedTurn>>;
  /**
   * Goes on with a turn that was cut off, or whose pause is decided. Resolves when it has ended, or at once when there is none
   * or another node has it; what the agent did wrong is recorded in its conversation and no error here.
   */
  continueTurn(conversationId: string): Promise<void>;
  /**
   * The same for somebody who waits for it: answers what the turn came to, and rejects as `runTurn` does. `undefined` when there is none to
   * go on with, another node has it, this one is about to stop, or it is about another step of the conversation than `stepIndex`.
   */
  resumeTurn(conversationId: string, reader: TurnReader, stepIndex?: number): Promise<TurnAnswer | undefined>;
  /** Has every turn that was cut off gone on with: one job each. */
  takeUpCutOffTurns(): Promise<void>;
  /** See `moveByOneTurn`. */
  move(principal: Principal, conversationId: string, direction: 'undo' | 'redo'): Promise<UndoneConversation>;
  /** Ends the turn that holds the lease, if this node runs it, as its caller's cancellation would. */
  cancelTurn(lease: ConversationLease): void;
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
/** Nobody reads them: a turn is told why it ended in words of its own. */
const STOPPING = Symbol('stopping');
const CANCELLED = Symbol('cancelled');
/** How often a turn is taken up: one that takes its node down with it must not take all of them down. */
const MAX_ATTEMPTS = 3;
/** At once; those that come after them are found the next time. */
const MAX_TAKEN_UP = 500;

interface CutOffTurn {
  readonly attempt: number;
  readonly cancelled: boolean;
  /** Its agent is not deleted. */
  readonly isThere: boolean;
  readonly claim: TurnClaim & { readonly resumed: ResumedTurn };
}

export function createTurns(given: TurnDeps): Turns {
  const stopping = new AbortController();
  const deps: TurnParts = {
    ...given,
    turnstile: createTurnstile(),
    situations: createAgentSituations(),
    stopping: stopping.signal,
  };
  const { store, deployments, clock } = deps;
  /** Each from the question whether it may run until it holds nothing any more. */
  const open = new Set<Promise<void>>();
  /** By lease: how to end the turn that runs under it here. */
  const running = new Map<string, AbortController>();
  /** Leases whose turn was cancelled between its claim and its beginning; empty when no turn is there. */
  const cancelledEarly = new Set<string>();
  let closed: Promise<void> | undefined;

  /** Answers how to say that the turn is over. */
  function begin(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    open.add(promise);
    return () => {
      open.delete(promise);
      if (open.size <= running.size) cancelledEarly.clear();
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
    // A claim means nothing without what the turn does: its first effect and its end are never there without it.
    const mayBeLost = request.onStarted === undefined;
    const admission = await store.commit(db => admitTurn(db, deps, request), { mayBeLost });
    if (admission.kind !== 'claimed') return admission;
    const { principal, input, attachments = [], delivery, logged } = request;
    const isLogged = admission.turn.found?.logged ?? logged;
    const message = {
      ...{ input, context, attachments },
      ...(principal.id !== admission.turn.userId && { spokenBy: principal.id }),
      ...(delivery !== undefined && { delivery }),
      ...(isLogged && { logged: true }),
    };
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
      const { agentId, environment } = claim;
      return {
        kind: 'refused',
        refusal: { reason: 'agent_unavailable', agentId, environment, why: 'error' },
      };
    }
    return {
      kind: 'claimed',
      turn: {
        conversationId: claim.lease.conversationId,
        run: reader => run(claim, agent, message, reader).finally(ended),
        release: () => releaseClaim(deps, claim).finally(ended),
      },
    };
  }

  /** With a way to end it from here. */
  async function run(
    claim: TurnClaim,
    agent: CompiledAgent,
    message: TurnMessage,
    reader: TurnReader,
  ): Promise<TurnAnswer> {
    const lease = keyOf(claim.lease);
    const cancelled = new AbortController();
    const cancel = () => cancelled.abort(CANCELLED);
    if (reader.signal.aborted || cancelledEarly.delete(lease)) cancel();
    else reader.signal.addEventListener('abort', cancel);
    running.set(lease, cancelled);
    try {
      return await measured(() =>
        runTurn(deps, claim, agent, message, { ...reader, signal: cancelled.signal }),
      );
    } finally {
      reader.signal.removeEventListener('abort', cancel);
      running.delete(lease);
    }
  }

  async function claimCutOff(db: Db, conversationId: string): Promise<CutOffTurn | undefined> {
    const claimed = await claimCheckpoint(db, { conversationId, holder: deps.nodeId, leaseMs: LEASE_MS });
    if (!claimed) return undefined;
    const { lease, agentId, agentVersion, environment, userId, auditHead } = claimed;
    const checkpoint = JSON.parse(claimed.checkpoint) as TurnCheckpoint;
    const { pauseId } = checkpoint;
    const isHeld = checkpoint.key !== undefined && (await moveIdempotencyKey(db, checkpoint.key, lease));
    const key = isHeld ? checkpoint.key : undefined;
    await takeOverEffects(db, lease);
    const effects = await listEffects(db, conversationId);
    const decision = pauseId === undefined ? undefined : (await findPause(db, pauseId))?.decision;
    const resumed = { checkpoint, effects, decision };
    const isThere = (await readDescriptor(db, 'agent', agentId)) !== undefined;
    return {
      attempt: claimed.attempt,
      isThere,
      cancelled: claimed.cancelled,
      claim: { lease, key, agentId, agentVersion, environment, userId, found: undefined, auditHead, resumed },
    };
  }

  /** `undefined` when it is ended instead. */
  async function goOn(
    { attempt, cancelled, isThere, claim }: CutOffTurn,
    reader: TurnReader,
  ): Promise<TurnAnswer | undefined> {
    const { agentId, agentVersion, lease, resumed } = claim;
    if (cancelled) {
      await endCutOffTurn(deps, claim, 'cancelled');
      return undefined;
    }
    const mayGoOn = isThere && attempt <= MAX_ATTEMPTS;
    const agent = mayGoOn ? await deployments.compiled(agentId, agentVersion) : undefined;
    if (agent) return run(claim, agent, resumed.checkpoint.message, reader);
    deps.logger?.error('A turn that was cut off cannot be gone on with and is ended', {
      conversationId: lease.conversationId,
      agentId,
      attempt,
    });
    await endCutOffTurn(deps, claim, 'unavailable');
    return undefined;
  }

  const resumeTurn: Turns['resumeTurn'] = async (conversationId, reader, stepIndex) => {
    if (closed) return undefined;
    const ended = begin();
    try {
      const claimed = await store.commit(async db => {
        const found = await claimCutOff(db, conversationId);
        const { index } = found?.claim.resumed.checkpoint.step ?? {};
        if (stepIndex !== undefined && index !== undefined && index !== stepIndex) throw OTHER_STEP;
        return found;
      });
      return claimed && (await goOn(claimed, reader));
    } catch (thrown) {
      if (thrown !== OTHER_STEP) throw thrown;
      return undefined;
    } finally {
      ended();
    }
  };

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
    check(request) {
      checkRequest(request, deps.maxInputChars);
      readCallerContext(request.context);
    },
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
    async continueTurn(conversationId) {
      try {
        await resumeTurn(conversationId, { signal: new AbortController().signal });
      } catch (error) {
        // The agent's own failure is recorded; anything else leaves the turn to be taken up again.
        deps.logger?.warn('A turn went on and failed', { conversationId, error });
      }
    },
    resumeTurn,
    takeUpCutOffTurns: () =>
      store.commit(async db => {
        for (const { conversationId, fence } of await listCutOffTurns(db, MAX_TAKEN_UP)) {
          await addJob(db, {
            id: `${CONTINUE_TURN}/${conversationId}/${fence}`,
            kind: CONTINUE_TURN,
            payload: { conversationId },
          });
        }
      }),
    move: (principal, conversationId, direction) =>
      moveByOneTurn(store, principal, conversationId, direction),
    cancelTurn(held) {
      const lease = keyOf(held);
      const turn = running.get(lease);
      if (turn) turn.abort(CANCELLED);
      else if (open.size > running.size) cancelledEarly.add(lease);
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

function keyOf({ conversationId, fence }: ConversationLease): string {
  return `${conversationId}/${fence}`;
}
