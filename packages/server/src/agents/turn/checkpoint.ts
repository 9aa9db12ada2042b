import type { OutputItem, StepDatum } from '@patchbay/contract/operations/conversation';
import type { AuditEntry } from '../../store/tables/audit-entries.ts';
import type { ConversationStep } from '../../store/tables/conversation-steps.ts';
import type { KeyOfCall } from '../../store/tables/idempotency-keys.ts';
import type { Attachment, Counters, PastStep, QuickReply, Settled } from '../step/step.ts';
import type { AskedPlace, JournaledAnswer } from './journal.ts';
import type { TurnContext } from './turn-context.ts';
import { createTurnMemory, type RunningMemory } from './turn-memory.ts';

/** What the claim has to say to the agent. */
export interface TurnMessage {
  readonly input: string | undefined;
  readonly context: TurnContext;
  readonly attachments: readonly Attachment[];
  /** Who says it, where that is not whose conversation it is. */
  readonly spokenBy?: string | undefined;
  /** See `StoredTurn`. */
  readonly delivery?: string | undefined;
  readonly logged?: boolean | undefined;
}

/** Everything another node needs to go on with a turn, as plain JSON. */
export interface TurnCheckpoint {
  readonly message: TurnMessage;
  /** Of the call; it is answered when the turn ends. */
  readonly key?: KeyOfCall;
  /** What this call has played and nobody has stored: a greeting before its message, entries of the tasks before. */
  readonly steps: readonly ConversationStep[];
  readonly audit: readonly AuditEntry[];
  readonly step: {
    readonly index: number;
    /** The task that runs next. */
    readonly task: number;
    readonly memory: MemorySnapshot;
    readonly before: StepStart;
  };
  /** What the turn waits for. */
  readonly pauseId?: string;
  /** Where a step has asked for it; a rule asks between two steps. */
  readonly waitsAt?: AskedPlace;
  /** What people have decided in this turn before. */
  readonly answers?: readonly JournaledAnswer[];
  /** The turn has waited: its call is answered, and its step is shown to readers as far as it went. */
  readonly isAnswered?: true;
}

/** What a turn found, to tell afterwards what it has changed. */
export interface StepStart {
  readonly properties: Readonly<Record<string, unknown>>;
  /** Names of `Counters.seen`. */
  readonly seen: readonly string[];
}

interface MemorySnapshot {
  readonly input: string | undefined;
  readonly expressions: string[];
  readonly intents: string[];
  readonly actions: string[];
  readonly output: OutputItem[];
  readonly quickReplies: QuickReply[];
  readonly counters: Counters;
  readonly past: readonly PastStep[];
  readonly calls: Readonly<Record<string, unknown>>;
  /** Not there in what earlier versions have written. */
  readonly mcpCalls?: Readonly<Record<string, unknown>>;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly kept: Readonly<Record<string, unknown>>;
  readonly longTerm: RunningMemory['longTerm'];
  readonly context: TurnContext;
  readonly settled: Settled;
  readonly attachments: readonly Attachment[];
  readonly remembered: readonly StepDatum[];
  readonly decision: RunningMemory['decision'];
}

export function snapshotMemory(memory: RunningMemory): MemorySnapshot {
  const { input, expressions, intents, actions, output, quickReplies, counters, past } = memory;
  const { calls, mcpCalls, properties, kept, longTerm, settled, attachments, remembered, decision } = memory;
  const context = { values: memory.context, types: memory.contextTypes, injected: memory.injected };
  return {
    ...{ input, expressions, intents, actions, output, quickReplies, counters, past },
    ...{ calls, mcpCalls, properties, kept, longTerm, context, settled, attachments, remembered, decision },
  };
}

export function restoreMemory(
  { kept, properties, calls, mcpCalls, remembered, ...rest }: MemorySnapshot,
  now: () => number,
): RunningMemory {
  const { input, past, context, attachments, counters, longTerm, ...set } = rest;
  const memory = createTurnMemory({
    ...{ input, past, context, attachments, counters, longTerm, now },
    properties: kept,
  });
  Object.assign(memory.properties, properties);
  Object.assign(memory.calls, calls);
  Object.assign(memory.mcpCalls, mcpCalls);
  Object.assign(memory, set);
  const sameAs = identities([...memory.output, ...memory.quickReplies]);
  (memory.remembered as StepDatum[]).push(
    ...remembered.map(datum => ({ ...datum, value: sameAs(datum.value) })),
  );
  return memory;
}

/** What is remembered of an answer is the answer itself, so that what is done to it later is done to both. */
function identities(parts: readonly object[]): (value: unknown) => unknown {
  const byText = new Map(parts.map(part => [JSON.stringify(part), part]));
  const one = (value: unknown) => byText.get(JSON.stringify(value)) ?? value;
  return value => (Array.isArray(value) ? value.map(one) : one(value));
}
