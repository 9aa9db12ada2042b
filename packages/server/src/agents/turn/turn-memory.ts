import type { ConversationOutput, StepDatum } from '@patchbay/contract/operations/conversation';
import { PlatformError } from '../../kernel/errors.ts';
import type { Decision } from '../../store/tables/pauses.ts';
import type { LongTermProperty } from '../memory/long-term-properties.ts';
import type { Attachment, Counters, PastStep, QuickReply, TurnMemory } from '../step/step.ts';
import type { TurnContext } from './turn-context.ts';

/** Action every greeting turn starts with (platform.md 3.1). */
const CONVERSATION_START = 'CONVERSATION_START';
/** Action that ends the conversation after the turn that raised it. */
export const CONVERSATION_END = 'CONVERSATION_END';

/** Flag of the context: what the person says is a secret (platform.md 1.7). */
const SECRET_INPUT = 'secretInput';
/** Stands for a secret wherever what was said is shown or stored. */
const SECRET_PLACEHOLDER = '<secret input>';
/** Action that makes the turn wait for a person, raised by the task after which it waits. */
export const PAUSE_CONVERSATION = 'PAUSE_CONVERSATION';

/** The memory with what only the turn itself sets. */
export interface RunningMemory extends TurnMemory {
  /** The workflow whose step runs now: noted on every remembered value. */
  workflowId: string | undefined;
  /** The properties the conversation keeps after the turn. */
  readonly kept: Readonly<Record<string, unknown>>;
  /** What a person decided about the turn. */
  decision: Decision | undefined;
  /** The long-term properties that this call has set, by name. */
  readonly longTerm: Readonly<Record<string, LongTermProperty>>;
  /** Remembered values that stay out of the audit trail. */
  readonly unaudited: ReadonlySet<StepDatum>;
}

const MAX_PROPERTIES = 500;
/** As JSON; every turn of the conversation reads them. */
const MAX_PROPERTY_CHARACTERS = 200_000;

/** Is what comes with these values a secret? */
export function isSecretInput(context: Readonly<Record<string, unknown>>): boolean {
  return String(context[SECRET_INPUT]) === 'true';
}

/** The memory of a turn before its first step. */
export function createTurnMemory(start: {
  readonly input: string | undefined;
  readonly counters: Counters;
  /** Earlier turns, the latest first. */
  readonly past: readonly PastStep[];
  readonly properties: Readonly<Record<string, unknown>>;
  /** Of the same call, before this turn. */
  readonly longTerm?: RunningMemory['longTerm'] | undefined;
  readonly context: TurnContext;
  readonly attachments?: readonly Attachment[] | undefined;
  readonly now: () => number;
}): RunningMemory {
  const remembered: StepDatum[] = [];
  const unaudited = new Set<StepDatum>();
  const kept = withoutPrototype(start.properties);
  const properties = withoutPrototype(start.properties);
  const longTerm = withoutPrototype<LongTermProperty>(start.longTerm);
  const { values, types, injected } = start.context;
  const isSecret = start.input !== undefined && isSecretInput(values);
  /** Of the properties there are; counted from the first change on, and never less than they have. */
  let characters: number | undefined;
  return {
    input: isSecret ? SECRET_PLACEHOLDER : start.input,
    // Of a turn that was taken up again only the placeholder is left.
    secretInput: isSecret && start.input !== SECRET_PLACEHOLDER ? start.input : undefined,
    inputIsSecret: isSecret,
    expressions: [],
    intents: [],
    actions: start.input === undefined ? [CONVERSATION_START] : [],
    output: [],
    quickReplies: [],
    counters: start.counters,
    last: start.past[0],
    past: start.past,
    properties,
    kept,
    longTerm,
    setProperty(name, value, scope, visibility) {
      characters ??= JSON.stringify(properties).length;
      characters += name.length + (JSON.stringify(value)?.length ?? 0);
      properties[name] = value;
      if (scope !== 'step') kept[name] = value;
      if (scope === 'longTerm') longTerm[name] = { value, visibility };
      if (characters > MAX_PROPERTY_CHARACTERS || Object.keys(properties).length > MAX_PROPERTIES) {
        throw new PlatformError(
          'internal',
          `a conversation may keep ${MAX_PROPERTIES} properties of ${MAX_PROPERTY_CHARACTERS} characters together; keep less.`,
        );
      }
    },
    calls: withoutPrototype({}),
    mcpCalls: withoutPrototype({}),
    attachments: start.attachments ?? [],
    context: values,
    contextTypes: types,
    injected,
    settled: { injected: false, output: [], quickReplies: [] },
    workflowId: undefined,
    decision: undefined,
    remembered,
    unaudited,
    remember(key, value, { audited } = { audited: true }) {
      const datum: StepDatum = { key, value, timestamp: start.now() };
      if (this.workflowId !== undefined) datum.originWorkflowId = this.workflowId;
      remembered.push(datum);
      if (!audited) unaudited.add(datum);
    },
  };
}

/** Something that failed in a turn, as readers see it: what, never why. */
export interface TaskError {
  readonly taskId: string;
  readonly message: string;
}

/** What readers get of a turn (platform.md 1.7). */
export function toConversationOutput(
  memory: RunningMemory,
  taskErrors: readonly TaskError[],
): ConversationOutput {
  const output: ConversationOutput = {
    ...(memory.input !== undefined && { input: memory.input }),
    expressions: memory.expressions,
    intents: memory.intents,
    actions: memory.actions,
    output: memory.output,
    quickReplies: memory.quickReplies.map(toStoredQuickReply),
    ...(memory.decision && decisionFields(memory.decision)),
    ...(memory.attachments.length > 0 && { attachments: memory.attachments }),
  };
  return taskErrors.length === 0 ? output : { ...output, taskErrors };
}

/** A decision under the names readers and templates know it by (platform.md 5.3). */
function decisionFields({ verdict, note }: Decision): {
  hitlDecision: string;
  hitlDecisionNote?: string;
} {
  return { hitlDecision: verdict ?? '', ...(note !== undefined && { hitlDecisionNote: note }) };
}

/** Everything the turn remembers, under the keys of platform.md 1.7. */
export function toStepData(memory: TurnMemory, at: number): StepDatum[] {
  const data: StepDatum[] = [];
  const add = (key: string, value: unknown) => data.push({ key, value, timestamp: at });
  if (memory.input !== undefined) {
    add('input:initial', memory.input);
    add('input', memory.input);
  }
  for (const [name, value] of Object.entries(memory.context)) add(`context:${name}`, value);
  add('expressions', memory.expressions);
  add('intents', memory.intents);
  add('actions', memory.actions);
  data.push(...memory.remembered);
  return data;
}

/** An earlier turn as conditions and output choice look back at it. */
export function toPastStep(output: ConversationOutput): PastStep {
  return {
    input: output.input,
    expressions: output.expressions ?? [],
    intents: output.intents ?? [],
    actions: output.actions ?? [],
    output: output.output ?? [],
    quickReplies: output.quickReplies ?? [],
  };
}

/** Names of rules and actions come from people, so the maps have no prototype to meet. */
export function parseCounters(json: string): Counters {
  return toCounters(JSON.parse(json) as Partial<Counters>);
}

export function toCounters(stored: Partial<Counters>): Counters {
  return {
    rules: withoutPrototype(stored.rules),
    actions: withoutPrototype(stored.actions),
    seen: withoutPrototype(stored.seen),
    ...(stored.spentUsd !== undefined && { spentUsd: stored.spentUsd }),
  };
}

function withoutPrototype<T>(members: Readonly<Record<string, T>> | undefined): Record<string, T> {
  return Object.assign(Object.create(null) as Record<string, T>, members);
}

/** Every action of the turn counts once, for the turns that follow. */
export function countActions(counters: Counters, actions: readonly string[]): void {
  for (const action of new Set(actions)) counters.actions[action] = (counters.actions[action] ?? 0) + 1;
}

function toStoredQuickReply(reply: QuickReply): { value: string; expressions?: string; isDefault?: boolean } {
  return {
    value: reply.value,
    ...(reply.expressions !== undefined && { expressions: reply.expressions }),
    ...(reply.isDefault !== undefined && { isDefault: reply.isDefault }),
  };
}
