import { PlatformError } from '../../kernel/errors.ts';
import type { Db } from '../../store/store.ts';
import type { AuditEntry } from '../../store/tables/audit-entries.ts';
import { insertAuditRecords } from '../../store/tables/audit-records.ts';
import { insertConversationFiles } from '../../store/tables/conversation-files.ts';
import {
  deleteConversationSteps,
  findConversationStep,
  insertConversationSteps,
} from '../../store/tables/conversation-steps.ts';
import {
  findConversationMemory,
  finishTurn,
  releaseConversation,
  renewConversationLease,
} from '../../store/tables/conversations.ts';
import { answerIdempotencyKey, freeIdempotencyKey } from '../../store/tables/idempotency-keys.ts';
import { forgetAnswers } from '../../store/tables/pauses.ts';
import { deleteCheckpoint, isTurnCancelled, uncountTakeUp } from '../../store/tables/turn-checkpoints.ts';
import type { CompiledAgent } from '../deployment/compiled-agent.ts';
import { madeOf } from '../pause/note-decision.ts';
import { openPause } from '../pause/open-pause.ts';
import type { ResumedTurn, TurnClaim } from './admit-turn.ts';
import { bubblesIn } from './bubbles.ts';
import type { TurnMessage } from './checkpoint.ts';
import { createJournal, type Journal, type JournaledAnswer } from './journal.ts';
import { keepLease, LEASE_MS, leaseLost } from './keep-lease.ts';
import { CUT_OFF_TASK, type KnownOfStep, Play, type StepFailure } from './play.ts';
import { type FailedAnswer, type TurnAnswer, toTurnAnswer } from './turn-answer.ts';
import { logLostTurn, logPlayedTurn, turnFields } from './turn-log.ts';
import { parseCounters } from './turn-memory.ts';
import type { TurnParts } from './turns.ts';

/** News of a running turn, in order. */
export interface TurnEvent {
  readonly type: 'reply-delta';
  /** One bubble of the answer. */
  readonly text: string;
  /** 0 for the first bubble. */
  readonly index: number;
}

/** Who waits for a turn. A plain caller and a streaming one differ in `onEvent` only. */
export interface TurnReader {
  /** Ends the turn with nothing stored. */
  readonly signal: AbortSignal;
  /** How long this caller waits, where that is less than a turn may take. */
  readonly timeLimitMs?: number | undefined;
  /** Must not throw. */
  readonly onEvent?: ((event: TurnEvent) => void) | undefined;
  /** So many bubbles of the answer were told before the turn waited: they are not told again. */
  readonly heard?: number | undefined;
  /** Wants to know why: told once when the turn is stored, also one that failed. Must not throw. */
  readonly onTrace?: ((trace: TurnTrace) => void) | undefined;
}

/** What a turn did, step by step. */
export interface TurnTrace {
  readonly entries: readonly AuditEntry[];
  /** What each rules step said its rules came to, in their order. */
  readonly explained: readonly unknown[];
}

/**
 * Runs a claimed turn and commits it whole: steps, counters, audit, state, lease and idempotency answer in one unit.
 * A conversation that starts runs its greeting first, and the message when there is one. A turn that waits for a person is
 * committed as far as it went, and its answer says so.
 * Rejects with a `PlatformError` (timeout, cancelled, unavailable: nothing is stored unless the turn has acted; internal: a step
 * failed, which is recorded) or with a `Fault` when the lease was lost, of which nothing is stored either.
 */
export async function runTurn(
  deps: TurnParts,
  claim: TurnClaim,
  agent: CompiledAgent,
  message: TurnMessage,
  reader: TurnReader,
): Promise<TurnAnswer> {
  const { clock, store } = deps;
  const keeper = keepLease({
    clock,
    conversationId: claim.lease.conversationId,
    timeLimitMs: Math.min(deps.turnTimeoutMs, reader.timeLimitMs ?? deps.turnTimeoutMs),
    cancelled: reader.signal,
    stopping: deps.stopping,
    renew: () =>
      store.commit(async db => {
        if (!(await renewConversationLease(db, claim.lease, LEASE_MS))) return 'lost';
        // News of a cancellation may be lost; what it wrote is not.
        return journal.hasActed && (await isTurnCancelled(db, claim.lease.conversationId))
          ? 'cancelled'
          : 'renewed';
      }),
  });
  const journal = createJournal({
    store,
    lease: claim.lease,
    signal: keeper.signal,
    earlier: claim.resumed?.effects ?? [],
    answers: answersOf(claim.resumed),
  });
  const explained: unknown[] = [];
  const explain = reader.onTrace && ((rules: unknown) => void explained.push(rules));
  const play = new Play(deps, claim, message, journal, keeper.signal, { ...reader, explain });
  try {
    await play.run(agent);
    // Nobody listens to a turn that goes on by itself, and the worker it has is everybody's.
    if (!play.failure && (!claim.resumed || reader.onEvent)) await speak(deps, play, reader, keeper.signal);
    keeper.signal.throwIfAborted();
    await keeper.stop();
    const answer = await commitTurn(deps, claim, journal, play);
    logPlayedTurn(deps.logger, claim, play);
    reader.onTrace?.({ entries: play.audit, explained });
    if (play.failure) throw new StepFailed(play.failure);
    return answer;
  } catch (thrown) {
    if (thrown instanceof StepFailed) throw stepFailed(deps, claim, thrown.failure);
    await keeper.stop();
    throw await giveUp(deps, claim, journal, play, thrown);
  }
}

/** What people have decided in the turn, the one it waited for last included. */
function answersOf(resumed: ResumedTurn | undefined): readonly JournaledAnswer[] {
  if (!resumed) return [];
  const { checkpoint, decision } = resumed;
  const { answers = [], waitsAt } = checkpoint;
  return decision && waitsAt ? [...answers, { ...waitsAt, decision }] : answers;
}

/** The turn was committed with a step that failed. */
class StepFailed extends Error {
  readonly failure: StepFailure;
  constructor(failure: StepFailure) {
    super('A step failed');
    this.failure = failure;
  }
}

const WHY = {
  timeout: 'The agent did not end in time.',
  cancelled: 'The call was cancelled while the agent was at work.',
} as const;

/**
 * Ends a turn that cannot be ended well. One that has done nothing is given back; one that has acted is recorded as far as it
 * went when its time was over or its caller went, and is else left for whoever takes it up. Answers what the caller is told.
 */
async function giveUp(
  deps: TurnParts,
  claim: TurnClaim,
  journal: Journal,
  play: Play,
  thrown: unknown,
): Promise<unknown> {
  logLostTurn(deps.logger, claim, thrown);
  if (!claim.resumed && !journal.hasActed) {
    await releaseClaim(deps, claim);
    return thrown;
  }
  if (!(thrown instanceof PlatformError) || (thrown.kind !== 'timeout' && thrown.kind !== 'cancelled')) {
    // Whoever takes it up reads them first.
    await journal.stored().catch(() => undefined);
    await suspendClaim(deps, claim);
    return thrown instanceof PlatformError
      ? new PlatformError(
          thrown.kind,
          'Patchbay stopped while the agent was at work; it goes on by itself, and the conversation will hold its answer.',
        )
      : thrown;
  }
  const isOver =
    play.paused !== undefined && (await isTurnCancelled(deps.store.db, claim.lease.conversationId));
  if (play.isComplete && !isOver) {
    // What the agent did is done and what it says is known: only the saying of it was cut short.
    await commitTurn(deps, claim, journal, play);
    return new PlatformError(thrown.kind, `${WHY[thrown.kind]} Its answer is stored in the conversation.`, {
      details: { conversationId: claim.lease.conversationId },
    });
  }
  const error = new PlatformError(thrown.kind, `${WHY[thrown.kind]} ${whatIsKnown(journal)}`, {
    details: { conversationId: claim.lease.conversationId },
  });
  play.cutOff(error);
  await commitTurn(deps, claim, journal, play);
  return error;
}

function whatIsKnown({ unfinished }: Journal): string {
  return unfinished.length === 0
    ? 'What it had done is recorded, and is not done again by itself.'
    : `What it had done is recorded. It is unknown whether this was done: ${unfinished.join(', ')}.`;
}

/** Gives a claimed turn back with nothing done: lease and key are free, a conversation that was to start is gone. */
export async function releaseClaim(deps: TurnParts, claim: TurnClaim): Promise<void> {
  const { lease, key } = claim;
  try {
    await deps.store.commit(async db => {
      await releaseConversation(db, lease);
      if (key) await freeIdempotencyKey(db, key, lease);
    });
  } catch (cause) {
    // The caller has its own error already; the lease ends by itself.
    deps.logger?.warn('A turn could not be given back', { ...turnFields(claim), error: cause });
  }
}

/** Why a turn that was cut off is ended instead of gone on with. */
const ENDINGS = {
  cancelled: 'The turn was cancelled.',
  unavailable: 'The turn was cut off and could not go on.',
} as const;

/** Ends a turn that is not gone on with: recorded as far as it went, in its conversation's words. */
export async function endCutOffTurn(
  deps: TurnParts,
  claim: TurnClaim & { readonly resumed: ResumedTurn },
  why: keyof typeof ENDINGS,
): Promise<void> {
  const { signal } = new AbortController();
  const { effects: earlier, checkpoint } = claim.resumed;
  const answers = answersOf(claim.resumed);
  const journal = createJournal({ store: deps.store, lease: claim.lease, signal, earlier, answers });
  const play = new Play(deps, claim, checkpoint.message, journal, signal);
  const error = new PlatformError(why, `${ENDINGS[why]} ${whatIsKnown(journal)}`);
  play.takeUp(claim.resumed);
  play.cutOffEarlier(error, await findOut(deps.store.db, claim));
  await commitTurn(deps, claim, journal, play);
}

/** What the step has done, said and spent before it was cut off: its checkpoint is from its beginning. */
async function findOut(
  db: Db,
  { lease, resumed }: Parameters<typeof endCutOffTurn>[1],
): Promise<KnownOfStep> {
  const { conversationId } = lease;
  const { checkpoint, effects } = resumed;
  const { index, task, memory } = checkpoint.step;
  const ofStep = effects.filter(({ stepIndex, taskIndex }) => stepIndex === index && taskIndex === task);
  const done = madeOf(ofStep);
  const costs = (done.made ?? []).flatMap(({ record }) =>
    typeof record?.costUsd === 'number' ? [record.costUsd] : [],
  );
  const cost = costs.reduce((sum, usd) => sum + usd, memory.counters.spentUsd ?? 0);
  const row = await findConversationMemory(db, conversationId);
  const spentUsd = Math.max(cost, row ? (parseCounters(row.counters).spentUsd ?? 0) : 0);
  return {
    done,
    shown: checkpoint.isAnswered ? await findConversationStep(db, conversationId, index) : undefined,
    spentUsd: spentUsd > 0 ? spentUsd : undefined,
  };
}

/** Leaves a turn that has acted for whoever takes it up: its key stays with it. */
async function suspendClaim(deps: TurnParts, claim: TurnClaim): Promise<void> {
  await releaseClaim(deps, { ...claim, key: undefined });
  // A node that stops in good order says nothing about the turn.
  if (!claim.resumed || !deps.stopping.aborted) return;
  await deps.store
    .commit(db => uncountTakeUp(db, claim.lease.conversationId))
    .catch(error =>
      deps.logger?.warn('A turn was given back and counted as tried', { ...turnFields(claim), error }),
    );
}

/** Gives the answer bubble by bubble, without those that were heard while they were written; before a bubble with a delay the agent "types" for so many milliseconds. */
async function speak(deps: TurnParts, play: Play, reader: TurnReader, signal: AbortSignal): Promise<void> {
  const { answering, streamed } = play;
  const { output = [] } = answering.output;
  const heard = play.heardOf(answering, reader.heard);
  for (const [index, place] of bubblesIn(output).entries()) {
    if (index < heard) continue;
    const { text, delay } = output[place]!;
    if (typeof delay === 'number' && delay > 0) await deps.clock.sleep(delay, signal);
    if (!streamed.has(index)) reader.onEvent?.({ type: 'reply-delta', text: text!, index });
  }
}

async function commitTurn(
  deps: TurnParts,
  claim: TurnClaim,
  journal: Journal,
  play: Play,
): Promise<TurnAnswer> {
  const { lease, key } = claim;
  const { conversationId } = lease;
  const { state, answering, failure, paused } = play;
  const answer = toTurnAnswer(
    {
      id: conversationId,
      agentId: claim.agentId,
      agentVersion: claim.agentVersion,
      userId: claim.userId,
      environment: claim.environment,
      properties: play.properties,
    },
    state,
    answering,
    paused && { pause: paused.pause, base: deps.base() },
  );
  // A turn that waited was stored as far as it went.
  const wasShown = claim.resumed?.checkpoint.isAnswered === true;
  const mayBeStored = claim.resumed !== undefined || (claim.found?.undoneSteps ?? 0) > 0;
  let forgotten: readonly string[] = [];
  const audit = deps.audit.seal({ conversationId, ...claim }, claim.auditHead, play.audit);
  const commit = () => deps.store.commit(storeTurn);
  // What waits goes on with its journal.
  if (paused) await journal.stored().then(commit);
  else await journal.end(commit);
  if (forgotten.length > 0) {
    deps.logger?.warn(
      'An agent may keep no more of a person, and new properties last as long as the conversation',
      {
        ...turnFields(claim),
        properties: forgotten,
      },
    );
  }
  return answer;

  async function storeTurn(db: Db): Promise<void> {
    const held = await finishTurn(db, lease, {
      state,
      stepCount: answering.index + 1,
      counters: JSON.stringify(play.counters),
      properties: JSON.stringify(play.properties),
      auditHead: audit.head,
      at: answering.createdAt,
    });
    if (!held) throw leaseLost(conversationId);
    if (mayBeStored) await deleteConversationSteps(db, conversationId, play.steps[0]!.index);
    await insertConversationSteps(db, conversationId, play.steps);
    if (!wasShown)
      await insertConversationFiles(db, { conversationId, index: answering.index }, play.message.attachments);
    await insertAuditRecords(db, audit.records);
    if (!paused) forgotten = await play.storeLongTerm(db);
    if (paused) {
      // Whoever cancelled it was told that it ends.
      if (await isTurnCancelled(db, conversationId)) throw new PlatformError('cancelled', WHY.cancelled);
      await journal.writeRecorded(db);
      await openPause(db, paused.pause, paused.checkpoint);
    } else if (claim.resumed || journal.hasActed) await deleteCheckpoint(db, conversationId);
    if (!paused && journal.answers.length > 0) await forgetAnswers(db, conversationId);
    await tellStored(db, answer);
    if (!key) return;
    if (failure && !journal.hasActed) await freeIdempotencyKey(db, key, lease);
    else if (!(await answerIdempotencyKey(db, key, lease, failure ? keptFailure(claim, failure) : answer)))
      throw leaseLost(conversationId);
  }

  async function tellStored(db: Db, stored: TurnAnswer): Promise<void> {
    const { delivery, logged = false } = play.message;
    if (!deps.onStored || (delivery === undefined && !logged)) return;
    const isWanted = await deps.onStored(db, {
      ...{ conversationId, delivery, logged, wasTold: wasShown, at: answering.createdAt },
      input: answering.input,
      outcome: failure ? { failure: endingOf(claim, failure) } : { answer: stored },
    });
    if (!isWanted && !claim.resumed && !journal.hasActed) {
      throw new PlatformError('cancelled', 'The message was cancelled; nothing of it was stored.');
    }
  }
}

/** Why a turn ended without an answer: its time, its caller, or the agent. */
function endingOf(claim: TurnClaim, failure: StepFailure): PlatformError {
  const { cause } = failure;
  const isCutOff = failure.task.taskId === CUT_OFF_TASK && cause instanceof PlatformError;
  return isCutOff ? cause : failureFor(claim, failure);
}

/** What a repeat of a call is told whose turn failed after it had acted: the agent does not run again. */
function keptFailure(claim: TurnClaim, failure: StepFailure): FailedAnswer {
  const { kind, message } = endingOf(claim, failure);
  return { failed: { kind, message } };
}

/** What the caller is told of a step that threw: which one, and why if that is for callers; else the log has it. */
function stepFailed(deps: TurnParts, claim: TurnClaim, failure: StepFailure): PlatformError {
  deps.logger?.error('A step of a turn failed', {
    ...turnFields(claim),
    step: failure.task.taskId,
    error: failure.cause,
  });
  return failureFor(claim, failure);
}

function failureFor(claim: TurnClaim, { task, cause }: StepFailure): PlatformError {
  const { conversationId } = claim.lease;
  const why = cause instanceof PlatformError ? `: ${cause.message}` : '; the server log says why.';
  return new PlatformError('internal', `Agent "${claim.agentId}" failed in its step ${task.taskId}${why}`, {
    details: { conversationId },
    cause,
  });
}
