import type { StepDatum } from '@patchbay/contract/operations/conversation';
import { PlatformError } from '../../kernel/errors.ts';
import type { AuditEntry } from '../../store/tables/audit-entries.ts';
import type { CompiledAgent } from '../deployment/compiled-agent.ts';
import type { StepResult, StepTools } from '../step/step.ts';
import { Parked } from './journal.ts';
import { PAUSE_CONVERSATION, type RunningMemory, type TaskError } from './turn-memory.ts';

/** What running the steps came to. The memory holds the rest. */
export interface StepsRun {
  /** The step that threw, with what it threw; the steps after it did not run. */
  readonly failure: { readonly task: TaskError; readonly cause: unknown } | undefined;
  readonly waits: Waiting | undefined;
}

/** The turn waits for a person: then it goes on with another task, or runs the one again that asks. */
export type Waiting =
  | { readonly kind: 'rule'; readonly next: number }
  | { readonly kind: 'question'; readonly parked: Parked };

/** Where the steps run, and who is told. */
export interface StepsPlace {
  readonly stepIndex: number;
  /** The first task to run: 0 unless the turn goes on. */
  readonly from: number;
  /** Told before each task runs. Throws a `PlatformError` when the turn may use up no more. */
  enter(task: { readonly index: number; readonly acts: boolean }): void;
  /** Told of each task that ran. */
  record(entry: AuditEntry): void;
}

/**
 * Runs an agent's steps in order until one says stop or throws, and has them note the turn for later ones. Every step that
 * ran leaves one audit entry. A `PlatformError` that a step throws is told to callers; of anything else, only which step it was.
 * Rejects only with the reason of `tools.signal`, and then at once, whatever the step is waiting for.
 */
export async function runSteps(
  agent: CompiledAgent,
  place: StepsPlace,
  memory: RunningMemory,
  tools: StepTools,
): Promise<StepsRun> {
  const { clock, signal } = tools;
  const { stepIndex } = place;
  let failure: StepsRun['failure'];
  for (const [taskIndex, step] of agent.steps.entries()) {
    if (taskIndex < place.from) continue;
    signal.throwIfAborted();
    memory.workflowId = step.workflowId;
    const before = capture(memory);
    const startedAt = clock.now();
    let result: StepResult = 'stop';
    try {
      place.enter({ index: taskIndex, acts: step.compiled.acts === true });
      const running = step.compiled.run(memory, tools);
      result = typeof running === 'string' ? running : await unlessAborted(running, signal);
    } catch (cause) {
      // What it has done so far is in the journal, and on its audit entry when it has run to its end.
      if (cause instanceof Parked && !signal.aborted)
        return { failure: undefined, waits: { kind: 'question', parked: cause } };
      failure = failureOf(step.type, signal.aborted ? signal.reason : cause);
    }
    const endedAt = clock.now();
    const changed = changedSince(before, memory);
    place.record({
      stepIndex,
      taskIndex,
      taskId: step.type,
      taskType: step.type,
      durationMs: Math.max(0, endedAt - startedAt),
      input: taskIndex === 0 ? memory.input : undefined,
      output: failure ? { ...changed, error: failure.task.message } : changed,
      actions: [...memory.actions],
      createdAt: endedAt,
    });
    if (failure && signal.aborted) throw signal.reason;
    if (
      !failure &&
      memory.actions.includes(PAUSE_CONVERSATION) &&
      !before.actions.includes(PAUSE_CONVERSATION)
    ) {
      const next = result === 'stop' ? agent.steps.length : taskIndex + 1;
      return { failure: undefined, waits: { kind: 'rule', next } };
    }
    if (result === 'stop') break;
  }
  const noteFailure = noteTurn(agent, memory, tools);
  return { failure: failure ?? noteFailure, waits: undefined };
}

function noteTurn(agent: CompiledAgent, memory: RunningMemory, { budget }: StepTools): StepsRun['failure'] {
  for (const { type, compiled } of agent.steps) {
    try {
      compiled.noteTurn?.(memory, memory.counters, budget);
    } catch (cause) {
      return failureOf(type, cause);
    }
  }
  return undefined;
}

function failureOf(type: string, cause: unknown): NonNullable<StepsRun['failure']> {
  const why = cause instanceof PlatformError ? `: ${cause.message}` : '.';
  return { task: { taskId: type, message: `Step ${type} failed${why}` }, cause };
}

/** The step's result, or the reason of the abort, whichever comes first. */
async function unlessAborted(running: Promise<StepResult>, signal: AbortSignal): Promise<StepResult> {
  // The step may have been told before it first waited.
  signal.throwIfAborted();
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([running, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort!);
  }
}

const AUDITED = ['expressions', 'intents', 'actions', 'output', 'quickReplies', 'remembered'] as const;
type Captured = Record<(typeof AUDITED)[number], readonly unknown[]>;

function capture(memory: RunningMemory): Captured {
  return {
    expressions: [...memory.expressions],
    intents: [...memory.intents],
    actions: [...memory.actions],
    output: [...memory.output],
    quickReplies: [...memory.quickReplies],
    remembered: [...memory.remembered],
  };
}

/** What is kept several times under one key, as the calls of a model are, is a list. */
function byKey(remembered: readonly StepDatum[], { unaudited }: RunningMemory): Record<string, unknown> {
  const audited = remembered.filter(datum => !unaudited.has(datum));
  const groups = Map.groupBy(audited, ({ key }) => key);
  return Object.fromEntries(
    [...groups].map(([key, data]) => [
      key,
      data.length === 1 ? data[0]!.value : data.map(({ value }) => value),
    ]),
  );
}

/** Only what the step put there; of remembered values only the new ones. */
function changedSince(before: Captured, memory: RunningMemory): Record<string, unknown> {
  const changed: Record<string, unknown> = {};
  for (const key of AUDITED) {
    const now: readonly unknown[] = memory[key];
    const then = before[key];
    if (now.length === then.length && now.every((value, index) => value === then[index])) continue;
    if (key === 'remembered') {
      Object.assign(changed, byKey(memory.remembered.slice(then.length), memory));
    } else {
      changed[key] = [...now];
    }
  }
  return changed;
}
