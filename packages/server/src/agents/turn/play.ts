import type { ConversationOutput, ConversationState } from '@patchbay/contract/operations/conversation';
import type { PlatformError } from '../../kernel/errors.ts';
import type { Db } from '../../store/store.ts';
import type { AuditEntry } from '../../store/tables/audit-entries.ts';
import { type ConversationStep, listConversationOutputs } from '../../store/tables/conversation-steps.ts';
import type { ConversationForTurn } from '../../store/tables/conversations.ts';
import type { NewPause } from '../../store/tables/pauses.ts';
import { createToolApprovals } from '../approval/tool-approvals.ts';
import type { CompiledAgent } from '../deployment/compiled-agent.ts';
import { recallProperties, storeLongTerm } from '../memory/long-term-properties.ts';
import { newQuestionPause } from '../pause/question-pause.ts';
import { newRulePause } from '../pause/rule-pause.ts';
import { isAboutSignIn } from '../pause/sign-in.ts';
import type { Counters, PastStep, StepTools } from '../step/step.ts';
import type { ResumedTurn, TurnClaim } from './admit-turn.ts';
import { applyRuleDecision, noteDecision } from './apply-decision.ts';
import { bubblesIn } from './bubbles.ts';
import { callerTokenOf } from './caller-token.ts';
import {
  restoreMemory,
  type StepStart,
  snapshotMemory,
  type TurnCheckpoint,
  type TurnMessage,
} from './checkpoint.ts';
import type { Journal } from './journal.ts';
import { keepSecret } from './keep-secret.ts';
import { runSteps, type StepsRun, type Waiting } from './run-steps.ts';
import type { TurnReader } from './run-turn.ts';
import { createSpeech, type Speech } from './speech.ts';
import { createTurnBudget } from './turn-budget.ts';
import { changesOf } from './turn-changes.ts';
import { contextOfGreeting } from './turn-context.ts';
import {
  CONVERSATION_END,
  countActions,
  createTurnMemory,
  isSecretInput,
  parseCounters,
  type RunningMemory,
  toConversationOutput,
  toCounters,
  toPastStep,
  toStepData,
} from './turn-memory.ts';
import type { TurnParts } from './turns.ts';

/** Stands for a task where the turn itself was ended. */
export const CUT_OFF_TASK = 'turn';

export type StepFailure = NonNullable<StepsRun['failure']>;

/** So many characters of a checkpoint are written in a step of work. */
const WRITTEN_A_STEP = 50;

/** What is known of a step besides where it began. */
export interface KnownOfStep {
  /** What it was stored as when it waited. */
  readonly shown: ConversationStep | undefined;
  /** By the conversation. */
  readonly spentUsd: number | undefined;
  /** In the world, for the audit trail. */
  readonly done: object;
}

/** The step of the conversation that is being played. */
interface Running {
  readonly index: number;
  readonly memory: RunningMemory;
  readonly before: StepStart;
}

/** A call as it is played: a greeting, a message, or both; what it has come to so far. */
export class Play {
  /** The steps of the conversation that this call makes. */
  readonly steps: ConversationStep[] = [];
  readonly audit: AuditEntry[] = [];
  readonly counters: Counters;
  properties: Readonly<Record<string, unknown>>;
  /** Long-term properties that were set. */
  private longTerm: RunningMemory['longTerm'] = {};
  /** Entries of the memory that were recalled, and are counted. */
  private recalled: readonly string[] = [];
  failure: StepFailure | undefined;
  /** Everything has been played: only the saying of it is left. */
  isComplete = false;
  /** Set while the turn waits. */
  paused: { readonly pause: NewPause; readonly checkpoint: string } | undefined;
  private ended = false;
  /** Earlier turns, the latest first. */
  private past: PastStep[] = [];
  private running: Running | undefined;
  /** Where the turn stood before the task that runs, if it acts: the checkpoint as JSON. */
  private entered: string | undefined;
  /** Bubbles of the step that is played which were given to whoever listens while they were written. */
  readonly streamed = new Set<number>();
  private readonly speech: Speech;
  private tools: StepTools;
  private readonly deps: TurnParts;
  private readonly claim: TurnClaim;
  private agent: CompiledAgent | undefined;
  readonly message: TurnMessage;
  private readonly journal: Journal;

  constructor(
    deps: TurnParts,
    claim: TurnClaim,
    message: TurnMessage,
    journal: Journal,
    signal: AbortSignal,
    reader: Pick<TurnReader, 'onEvent' | 'heard'> & Pick<StepTools, 'explain'> = {},
  ) {
    this.deps = deps;
    this.claim = claim;
    this.message = message;
    this.journal = journal;
    const { found, resumed } = claim;
    this.counters = resumed
      ? toCounters(resumed.checkpoint.step.memory.counters)
      : parseCounters(found?.counters ?? '{}');
    this.properties = found?.properties ?? {};
    // A greeting and the message it comes with are one call, and share what it may use up.
    const { explain } = reader;
    this.speech = createSpeech(reader.onEvent);
    const say: StepTools['say'] = (text, index) => this.say(text, index, reader);
    this.tools = { ...toolsOf(deps, claim, message, journal, signal), say, ...(explain && { explain }) };
  }

  /**
   * Gives whoever listens a piece of a bubble. Bubbles are heard in their order: one before it that is finished is told first, and behind one
   * that is not it is told with all the others when the turn is over. What was heard before the turn waited is not told again,
   * and of a greeting whose message is answered in the same call nothing is.
   */
  private say(
    text: string,
    index: number,
    { onEvent, heard: before }: Pick<TurnReader, 'onEvent' | 'heard'>,
  ): void {
    const { running, streamed, speech } = this;
    if (!onEvent || !running) return;
    if (running.memory.input === undefined && this.message.input !== undefined) return;
    const heard = this.heardOf(running, before);
    if (index < heard) return;
    const { output, settled } = running.memory;
    for (const [at, place] of bubblesIn(output).slice(0, index).entries()) {
      if (at < heard || streamed.has(at)) continue;
      const { text: said, delay } = output[place]!;
      if (delay || !settled.output.includes(place)) return;
      streamed.add(at);
      speech.say(said!, at);
    }
    streamed.add(index);
    speech.say(text, index);
  }

  /** So many bubbles of the step are not to be told: those that were told when it waited. */
  heardOf({ index }: Pick<Running, 'index'>, heard = 0): number {
    return index === this.claim.resumed?.checkpoint.step.index ? heard : 0;
  }

  /** The one that answers. */
  get answering(): ConversationStep {
    return this.steps.at(-1)!;
  }

  get state(): ConversationState {
    if (this.paused) return 'AWAITING_HUMAN';
    if (this.failure) return 'ERROR';
    return this.ended ? 'ENDED' : 'READY';
  }

  async run(agent: CompiledAgent): Promise<void> {
    this.agent = agent;
    const { callBudgetUsd, approvals } = agent;
    this.tools = { ...this.tools, callBudgetUsd, approvals };
    if (agent.readsVariables) {
      this.tools = { ...this.tools, vars: Object.fromEntries(await this.deps.variables.values()) };
    }
    const { found, resumed } = this.claim;
    if (resumed) await this.goOn(resumed);
    else if (found) this.past = await earlierTurns(this.deps, found, agent);
    else {
      await this.recall(agent);
      await this.play(undefined);
    }
    const { input } = this.message;
    if (input !== undefined && !this.failure && !this.ended && !this.paused) await this.play(input);
    this.isComplete = true;
  }

  /** What an agent knows of the person, a conversation starts with. */
  private async recall({ memory }: CompiledAgent): Promise<void> {
    if (!memory) return;
    const recalled = await recallProperties(this.deps.store.db, this.claim, memory);
    this.properties = recalled.properties;
    this.recalled = recalled.counted;
  }

  /** Keeps what is to last longer than the conversation, in the unit that commits the call. Answers the names there is no room for. */
  async storeLongTerm(db: Db): Promise<readonly string[]> {
    const { memory } = this.agent ?? {};
    if (!memory) return [];
    const { userId, agentId, lease } = this.claim;
    const { longTerm: properties, recalled: counted } = this;
    const { conversationId } = lease;
    const at = this.deps.clock.now();
    return storeLongTerm(db, { userId, agentId, conversationId, properties, counted, at }, memory);
  }

  /** Records the step that was running as far as it went. */
  cutOff(error: PlatformError): void {
    const { running } = this;
    if (!running) return;
    this.failure = { task: { taskId: CUT_OFF_TASK, message: error.message }, cause: error };
    if (this.paused) {
      // It is over and waits no longer: its step is stored as that of a turn that was cut off.
      this.steps.pop();
      this.past.shift();
      this.paused = undefined;
    }
    if (this.steps.at(-1)?.index !== running.index) this.finish(running);
  }

  /** The same of a step that another run of the turn has begun: as far as that is known to have gone. */
  cutOffEarlier(error: PlatformError, { shown, spentUsd, done }: KnownOfStep): void {
    const { index, memory } = this.running!;
    if (spentUsd !== undefined) this.counters.spentUsd = spentUsd;
    this.cutOff(error);
    this.audit.push({
      ...{ stepIndex: index, taskIndex: -1, taskId: CUT_OFF_TASK, taskType: CUT_OFF_TASK },
      ...{ durationMs: 0, input: undefined, output: { error: error.message, ...done } },
      actions: [...memory.actions],
      createdAt: this.answering.createdAt,
    });
    if (!shown) return;
    const { data, output } = shown;
    const { taskErrors } = this.answering.output;
    this.steps.push({ ...this.steps.pop()!, data, output: { ...output, taskErrors } });
  }

  private async play(input: string | undefined): Promise<void> {
    const memory = createTurnMemory({
      input,
      counters: this.counters,
      past: [...this.past],
      properties: this.properties,
      longTerm: this.longTerm,
      context: input === this.message.input ? this.message.context : contextOfGreeting(this.message.context),
      attachments: input === undefined ? [] : this.message.attachments,
      now: () => this.deps.clock.now(),
    });
    const index = (this.claim.found?.stepCount ?? 0) + this.steps.length;
    const before = { properties: this.properties, seen: Object.keys(this.counters.seen) };
    await this.runFrom({ index, memory, before }, 0);
  }

  /** Where the turn stands when it is taken up. */
  takeUp({ checkpoint }: ResumedTurn): Running {
    const { index, before, memory: snapshot } = checkpoint.step;
    this.steps.push(...checkpoint.steps);
    this.audit.push(...checkpoint.audit);
    const memory = restoreMemory({ ...snapshot, counters: this.counters }, () => this.deps.clock.now());
    this.properties = before.properties;
    this.past = [...memory.past];
    this.running = { index, memory, before };
    return this.running;
  }

  private async goOn(resumed: ResumedTurn): Promise<void> {
    const running = this.takeUp(resumed);
    const { decision, checkpoint } = resumed;
    if (decision && !isAboutSignIn(decision)) noteDecision(running.memory, decision);
    const isRule = decision !== undefined && checkpoint.waitsAt === undefined;
    const isOver = isRule && applyRuleDecision(running.memory, decision) === 'skip';
    await this.runFrom(running, isOver ? this.agent!.steps.length : checkpoint.step.task);
  }

  private async runFrom(running: Running, from: number): Promise<void> {
    this.running = running;
    this.streamed.clear();
    const { index, memory } = running;
    const place = {
      stepIndex: index,
      from,
      enter: (task: { index: number; acts: boolean }) => {
        this.entered = task.acts ? this.writeCheckpoint(running, task.index) : undefined;
        this.journal.enter({ stepIndex: index, taskIndex: task.index }, this.entered);
      },
      record: (entry: AuditEntry) => this.audit.push(entry),
    };
    const run = await runSteps(this.agent!, place, memory, this.tools);
    this.speech.flush();
    this.failure = run.failure;
    if (run.waits) this.paused = this.pause(running, run.waits);
    this.finish(running);
  }

  private pause(running: Running, waits: Waiting): NonNullable<Play['paused']> {
    const { lease, agentId, userId } = this.claim;
    const turn = { conversationId: lease.conversationId, agentId, userId, at: this.deps.clock.now() };
    if (waits.kind === 'rule') {
      const pause = newRulePause({ ...turn, config: this.agent!.hitl });
      return { pause, checkpoint: waitingCheckpoint(this.checkpointAt(running, waits.next), pause) };
    }
    const { asked, question } = waits.parked;
    const pause = newQuestionPause(turn, question);
    const before = JSON.parse(this.entered!) as TurnCheckpoint;
    return { pause, checkpoint: waitingCheckpoint({ ...before, waitsAt: asked }, pause) };
  }

  private finish({ index, memory, before }: Running): void {
    const at = this.deps.clock.now();
    const output = toConversationOutput(memory, this.failure ? [this.failure.task] : []);
    if (!this.paused) countActions(this.counters, memory.actions);
    if (!this.failure && !this.paused) {
      this.properties = memory.kept;
      this.longTerm = memory.longTerm;
    }
    const changes = JSON.stringify(changesOf(before, this.properties, this.counters));
    this.steps.push({
      index,
      input: memory.input,
      data: toStepData(memory, at),
      output,
      changes,
      createdAt: at,
    });
    this.ended = memory.actions.includes(CONVERSATION_END);
    this.past.unshift(toPastStep(output));
  }

  /** What there is still to say. A secret is not written down: after a crash it has to be said again. */
  private unsaid({ input, context }: RunningMemory): TurnMessage {
    const isOver = input !== undefined || isSecretInput(context);
    return isOver ? { ...this.message, input: undefined } : this.message;
  }

  /** What calls have answered may be long, and is written down before each task that may act. */
  private writeCheckpoint(running: Running, task: number): string {
    const text = JSON.stringify(this.checkpointAt(running, task));
    this.tools.budget.work(text.length / WRITTEN_A_STEP);
    return text;
  }

  private checkpointAt({ index, memory, before }: Running, task: number): TurnCheckpoint {
    const { key, resumed } = this.claim;
    return {
      message: this.unsaid(memory),
      ...(key && { key }),
      ...(resumed?.checkpoint.isAnswered && { isAnswered: true }),
      ...(this.journal.answers.length > 0 && { answers: this.journal.answers }),
      steps: this.steps,
      audit: this.audit,
      step: { index, task, memory: snapshotMemory(memory), before },
    };
  }
}

/**
 * Where a turn goes on that waits. What was played is stored with the pause and the call is answered, so the turn goes on without
 * them.
 */
function waitingCheckpoint({ key: _, ...checkpoint }: TurnCheckpoint, { id }: NewPause): string {
  return JSON.stringify({
    ...checkpoint,
    ...{ steps: [], audit: [], pauseId: id, isAnswered: true },
  } satisfies TurnCheckpoint);
}

/** The turns before this call, the latest first. Most agents need only the one that came with the claim. */
async function earlierTurns(
  { store }: TurnParts,
  found: ConversationForTurn,
  agent: CompiledAgent,
): Promise<PastStep[]> {
  if (agent.pastTurns <= 1) return [toPastStep(JSON.parse(found.lastOutput) as ConversationOutput)];
  const outputs = await listConversationOutputs(store.db, found.id, { last: agent.pastTurns });
  return outputs.reverse().map(toPastStep);
}

function toolsOf(
  deps: TurnParts,
  claim: TurnClaim,
  { spokenBy }: TurnMessage,
  journal: Journal,
  signal: AbortSignal,
): Omit<StepTools, 'say'> {
  return {
    effect: journal.effect,
    recorded: journal.recorded,
    ask: journal.ask,
    decisions: journal.decisions,
    model: deps.model,
    keepSecret: (name, value) => keepSecret(deps.vault, claim, name, value),
    references: deps.references,
    callerToken: callerTokenOf(deps.store, claim),
    vars: {},
    approvals: createToolApprovals(undefined),
    fetch: deps.fetch,
    mcp: deps.mcp,
    clock: deps.clock,
    signal,
    deploymentEnv: deps.deploymentEnv,
    capabilities: skill => deps.capabilities.find(skill, claim),
    budget: createTurnBudget({ clock: deps.clock, signal, turnstile: deps.turnstile }),
    conversation: {
      conversationId: claim.lease.conversationId,
      agentId: claim.agentId,
      agentVersion: claim.agentVersion,
      environment: claim.environment,
      userId: claim.userId,
      spokenBy,
    },
  };
}
