import type { ConversationOutput, ConversationState } from '@patchbay/contract/operations/conversation';
import { PlatformError } from '../../kernel/errors.ts';
import { type AuditEntry, insertAuditEntries } from '../../store/tables/audit-entries.ts';
import { insertConversationFiles } from '../../store/tables/conversation-files.ts';
import {
  type ConversationStep,
  insertConversationSteps,
  listConversationOutputs,
} from '../../store/tables/conversation-steps.ts';
import { finishTurn, releaseConversation, renewConversationLease } from '../../store/tables/conversations.ts';
import { answerIdempotencyKey, freeIdempotencyKey } from '../../store/tables/idempotency-keys.ts';
import type { CompiledAgent } from '../deployment/compiled-agent.ts';
import type { Attachment, Counters, PastStep, StepTools } from '../step/step.ts';
import type { TurnClaim } from './admit-turn.ts';
import { keepLease, LEASE_MS, leaseLost } from './keep-lease.ts';
import { runSteps, type StepsRun } from './run-steps.ts';
import { type TurnAnswer, toTurnAnswer } from './turn-answer.ts';
import { createTurnBudget } from './turn-budget.ts';
import type { TurnContext } from './turn-context.ts';
import { logLostTurn, logPlayedTurn, turnFields } from './turn-log.ts';
import {
  CONVERSATION_END,
  countActions,
  createTurnMemory,
  parseCounters,
  toConversationOutput,
  toPastStep,
  toStepData,
} from './turn-memory.ts';
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
}

/** What the claim has to say to the agent. */
export interface TurnMessage {
  readonly input: string | undefined;
  readonly context: TurnContext;
  readonly attachments: readonly Attachment[];
}

/**
 * Runs a claimed turn and commits it whole: steps, counters, audit, state, lease and idempotency answer in one unit.
 * A conversation that starts runs its greeting first, and the message when there is one.
 * Rejects with a `PlatformError` (timeout, cancelled, unavailable: nothing is stored; internal: a step failed, which is recorded) or
 * with a `Fault` when the lease was lost, of which nothing is stored either.
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
    renew: () => store.commit(db => renewConversationLease(db, claim.lease, LEASE_MS)),
  });
  const played = await playAndCommit();
  if (played.failure) throw stepFailed(deps, claim, played.failure);
  return played.answer;

  async function playAndCommit() {
    try {
      const played = await playTurn(deps, claim, agent, message, keeper.signal);
      if (!played.failure) await speak(deps, played.step.output, reader, keeper.signal);
      keeper.signal.throwIfAborted();
      await keeper.stop();
      const answer = await commitTurn(deps, claim, message, played);
      logPlayedTurn(deps.logger, claim, played);
      return { answer, failure: played.failure };
    } catch (thrown) {
      await keeper.stop();
      logLostTurn(deps.logger, claim, thrown);
      await releaseClaim(deps, claim);
      throw thrown;
    }
  }
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

/** What was played and waits to be committed. */
interface PlayedTurn {
  readonly steps: readonly ConversationStep[];
  /** The one that answers. */
  readonly step: ConversationStep;
  readonly audit: readonly AuditEntry[];
  readonly counters: Counters;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly state: ConversationState;
  readonly failure: StepsRun['failure'];
}

const NOTHING: TurnContext['injected'] = { output: [], quickReplies: [] };

async function playTurn(
  deps: TurnParts,
  claim: TurnClaim,
  agent: CompiledAgent,
  message: TurnMessage,
  signal: AbortSignal,
): Promise<PlayedTurn> {
  const { found } = claim;
  const counters = parseCounters(found?.counters ?? '{}');
  const steps: ConversationStep[] = [];
  const audit: AuditEntry[] = [];
  const past = await earlierTurns(deps, claim, agent);
  let properties = found?.properties ?? {};
  let failure: StepsRun['failure'];
  let ended = false;
  // A greeting and the message it comes with are one call, and share what it may use up.
  const tools = toolsOf(deps, claim, signal);

  const play = async (input: string | undefined) => {
    const memory = createTurnMemory({
      input,
      counters,
      past: [...past],
      properties,
      // What comes with a message is said in answer to it, and not in the greeting before.
      context: input === message.input ? message.context : { ...message.context, injected: NOTHING },
      attachments: input === undefined ? [] : message.attachments,
      now: () => deps.clock.now(),
    });
    const index = (found?.stepCount ?? 0) + steps.length;
    const run = await runSteps(agent, index, memory, tools);
    const at = deps.clock.now();
    const output = toConversationOutput(memory, run.failure ? [run.failure.task] : []);
    steps.push({ index, input: memory.input, data: toStepData(memory, at), output, createdAt: at });
    audit.push(...run.audit);
    countActions(counters, memory.actions);
    failure = run.failure;
    if (!failure) properties = memory.kept;
    ended = memory.actions.includes(CONVERSATION_END);
    past.unshift(toPastStep(output));
  };

  if (!found) await play(undefined);
  if (message.input !== undefined && !failure && !ended) await play(message.input);

  const state = failure ? 'ERROR' : ended ? 'ENDED' : 'READY';
  return { steps, step: steps.at(-1)!, audit, counters, properties, state, failure };
}

/** How far back an agent can look that asks for its conversation. */
const PAST_TURNS = 20;

/** The turns before this call, the latest first. Most agents need only the one that came with the claim. */
async function earlierTurns(
  { store }: TurnParts,
  { found, lease }: TurnClaim,
  agent: CompiledAgent,
): Promise<PastStep[]> {
  if (!found) return [];
  if (!agent.readsPast) return [toPastStep(JSON.parse(found.lastOutput) as ConversationOutput)];
  const outputs = await listConversationOutputs(store.db, lease.conversationId, { last: PAST_TURNS });
  return outputs.reverse().map(toPastStep);
}

function toolsOf(deps: TurnParts, claim: TurnClaim, signal: AbortSignal): StepTools {
  return {
    clock: deps.clock,
    signal,
    budget: createTurnBudget({ clock: deps.clock, signal, turnstile: deps.turnstile }),
    deploymentEnv: deps.deploymentEnv,
    conversation: {
      conversationId: claim.lease.conversationId,
      agentId: claim.agentId,
      agentVersion: claim.agentVersion,
      environment: claim.environment,
      userId: claim.userId,
    },
  };
}

/** Gives the answer bubble by bubble; before a bubble with a delay the agent "types" for so many milliseconds. */
async function speak(
  deps: TurnParts,
  output: ConversationOutput,
  reader: TurnReader,
  signal: AbortSignal,
): Promise<void> {
  let index = 0;
  for (const item of output.output ?? []) {
    if (item.type !== 'text' || item.text === undefined) continue;
    const { delay } = item;
    if (typeof delay === 'number' && delay > 0) await deps.clock.sleep(delay, signal);
    reader.onEvent?.({ type: 'reply-delta', text: item.text, index });
    index += 1;
  }
}

async function commitTurn(
  deps: TurnParts,
  claim: TurnClaim,
  message: TurnMessage,
  played: PlayedTurn,
): Promise<TurnAnswer> {
  const { lease, key } = claim;
  const { conversationId } = lease;
  const { state, step, failure } = played;
  const answer = toTurnAnswer(
    {
      id: conversationId,
      agentId: claim.agentId,
      agentVersion: claim.agentVersion,
      userId: claim.userId,
      environment: claim.environment,
      properties: played.properties,
    },
    state,
    step,
  );
  await deps.store.commit(async db => {
    const held = await finishTurn(db, lease, {
      state,
      stepCount: step.index + 1,
      counters: JSON.stringify(played.counters),
      properties: JSON.stringify(played.properties),
      at: step.createdAt,
    });
    if (!held) throw leaseLost(conversationId);
    await insertConversationSteps(db, conversationId, played.steps);
    await insertConversationFiles(db, { conversationId, index: step.index }, message.attachments);
    await insertAuditEntries(db, played.audit);
    if (!key) return;
    if (failure) await freeIdempotencyKey(db, key, lease);
    else if (!(await answerIdempotencyKey(db, key, lease, answer))) throw leaseLost(conversationId);
  });
  return answer;
}

/** What the caller is told of a step that threw: which one, and why if that is for callers; else the log has it. */
function stepFailed(
  deps: TurnParts,
  claim: TurnClaim,
  { task, cause }: NonNullable<StepsRun['failure']>,
): PlatformError {
  const { conversationId } = claim.lease;
  deps.logger?.error('A step of a turn failed', {
    ...turnFields(claim),
    step: task.taskId,
    error: cause,
  });
  const why = cause instanceof PlatformError ? `: ${cause.message}` : '; the server log says why.';
  return new PlatformError('internal', `Agent "${claim.agentId}" failed in its step ${task.taskId}${why}`, {
    details: { conversationId },
    cause,
  });
}
