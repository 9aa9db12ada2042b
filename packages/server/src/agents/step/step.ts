import type { DocumentRef } from '@patchbay/contract/ids';
import type { OutputItem, StepDatum } from '@patchbay/contract/operations/conversation';
import type { OutboundCall } from '../../connections/call/outbound-call.ts';
import type { OutboundCalls } from '../../connections/call/outbound-calls.ts';
import type { CallOutcome } from '../../connections/call/outcome.ts';
import type { ServerDefinition, ServerRef } from '../../connections/server/definition.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { PlatformError } from '../../kernel/errors.ts';
import type { SafeFetch } from '../../kernel/safe-fetch.ts';
import type { References } from '../../secrets/references.ts';
import type { Decision, PauseKind, TimeoutPolicy } from '../../store/tables/pauses.ts';
import type { ToolApprovals } from '../approval/tool-approvals.ts';
import type { CallModel } from '../model/model.ts';

/** A quick reply as rules and output see it. */
export interface QuickReply {
  readonly value: string;
  readonly expressions?: string | undefined;
  readonly isDefault?: boolean | undefined;
}

/** What an earlier turn of the conversation left for conditions, output choice and templates. */
export interface PastStep {
  readonly input: string | undefined;
  readonly expressions: readonly string[];
  readonly intents: readonly string[];
  readonly actions: readonly string[];
  readonly output: readonly OutputItem[];
  readonly quickReplies: readonly QuickReply[];
}

/** Counted over the whole conversation, kept on its row so that no turn has to read every earlier one. */
export interface Counters {
  /** How often each rule has succeeded, by rule name. */
  rules: Record<string, number>;
  /** How often each action has been raised in earlier turns. */
  actions: Record<string, number>;
  /** What conditions over the whole conversation found in earlier turns, by a key of the condition. */
  seen: Record<string, true>;
  /** US dollars its calls have cost, as far as that is known; not there while nothing has cost any. */
  spentUsd?: number;
}

/** A file that came with the message; its bytes are looked up by id. */
export interface Attachment {
  readonly fileId: string;
  readonly fileName?: string | undefined;
  readonly contentType: string;
  /** Bytes. */
  readonly size: number;
}

/** How long a property lasts: this turn, as long as the conversation, or as long as the person. */
export type PropertyScope = 'step' | 'conversation' | 'longTerm';

/** Who recalls a long-term property: the agent that set it, agents of its groups, or every agent of the person. */
export type PropertyVisibility = 'self' | 'group' | 'global';

/** See `TurnMemory.settled`. */
export interface Settled {
  /** Has what was injected been said? */
  readonly injected: boolean;
  readonly output: readonly number[];
  readonly quickReplies: readonly number[];
}

/** What a value of the context is meant as (platform.md 1.7). */
export type ContextType = 'string' | 'expressions' | 'object' | 'array';

/**
 * The memory of one turn. Steps read and write it, never each other (architecture section 3). Its members are the
 * well-known keys of platform.md 1.7; `remember` keeps anything else.
 */
export interface TurnMemory {
  /**
   * What the person said; `undefined` in the greeting turn, which starts with the action CONVERSATION_START. A placeholder when it
   * is a secret.
   */
  readonly input: string | undefined;
  /**
   * A secret the person gave, for a step that keeps secrets; nothing else may show or keep it. It is gone when the turn has waited or
   * was taken up by another node.
   */
  readonly secretInput: string | undefined;
  /** Does `input` only stand for a secret? */
  readonly inputIsSecret: boolean;
  expressions: string[];
  intents: string[];
  actions: string[];
  /** One item a bubble, in order. */
  output: OutputItem[];
  quickReplies: QuickReply[];
  readonly counters: Counters;
  /** The turn before this one; `undefined` in the greeting turn. */
  readonly last: PastStep | undefined;
  /** Earlier turns, the latest first: the last twenty where the agent's documents ask for them, else the one before only. */
  readonly past: readonly PastStep[];
  /** By name: those of the conversation, covered by those of this turn. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** What a person decided, in a turn that waited for it. */
  readonly decision: { readonly verdict: string | undefined; readonly note: string | undefined } | undefined;
  /**
   * Any JSON value; the conversation keeps a long-term one, too. Without a visibility it has the agent's default.
   * Throws a `PlatformError` when the properties become too many or too large.
   */
  setProperty(name: string, value: unknown, scope: PropertyScope, visibility?: PropertyVisibility): void;
  /** What HTTP calls of this turn answered, by the name of the response: steps put it there. */
  readonly calls: Record<string, unknown>;
  /** The same of calls of MCP tools. */
  readonly mcpCalls: Record<string, unknown>;
  /** Files that came with the message. */
  readonly attachments: readonly Attachment[];
  /** Values sent with the message, such as `mcp` = "true". */
  readonly context: Readonly<Record<string, unknown>>;
  /** What each value of the context is meant as. */
  readonly contextTypes: Readonly<Record<string, ContextType>>;
  /** What the caller has the agent say, besides what its rules decide: said as it is, and no template. */
  readonly injected: {
    readonly output: readonly OutputItem[];
    readonly quickReplies: readonly QuickReply[];
  };
  /** Which bubbles and quick replies are no templates, by their places: injected ones, and ones that are rendered. */
  settled: Settled;
  /** Keeps a value under its key in this turn's record, and unless it is not to be audited in the audit trail. */
  remember(key: string, value: unknown, options?: { readonly audited: boolean }): void;
  readonly remembered: readonly StepDatum[];
}

/**
 * What one turn may use up, all its steps together. The process serves everybody: whatever of a step an agent's author or a
 * caller can make long is charged here before it is done, and lets others come first now and then.
 */
export interface TurnBudget {
  /** Charges steps of work, each about as much as comparing two words. Throws a `PlatformError` when they are used up. */
  work(steps: number): void;
  /** Charges characters of the answer. Throws a `PlatformError` when they are used up. */
  write(characters: number): void;
  /** The error of the limit that was reached, whatever a library has made of it on its way; `undefined` before. */
  readonly exhausted: PlatformError | undefined;
  /** True when the turn has held the process long enough: then a step pauses at its next place for it. */
  readonly sliceIsOver: boolean;
  /** Resolves when others have had their time. Rejects with the reason of the turn's signal. */
  pause(): Promise<void>;
}

/** How something that a step did in the world ended. */
export type EffectOutcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** An earlier run of the turn was cut off while it was under way: it may have happened or not, and is not done again. */
  | { readonly kind: 'unknown' };

/** What a person is asked, and what happens when nobody answers (architecture, section 5). */
export interface PauseRequest {
  readonly kind: Exclude<PauseKind, 'RULE'>;
  /** A sentence for whoever decides. */
  readonly reason: string;
  readonly timeoutPolicy: TimeoutPolicy;
  /** ISO 8601; empty when it waits without end. */
  readonly approvalTimeout: string;
  /** What is asked, as plain JSON: its kind says what it holds. */
  readonly request: unknown;
  /** What is done when it is approved, as plain JSON, for whoever shows it; until it is decided. */
  readonly frozen: unknown;
}

/** An agent that says it has a skill. */
export interface CapableAgent {
  readonly agentId: string;
  readonly confidence: 'high' | 'medium' | 'low';
}

/** What a step may use besides the memory. */
export interface StepTools {
  /**
   * Does something in the world, once, whatever happens to this node: the intent is written down before `run`, the outcome
   * after it. Where the turn goes on after a crash, what has an outcome gives it again and nothing is run. `run` answers a
   * JSON value also when it failed, and rejects only with the reason of the turn's signal. Only for a step that `acts`.
   */
  effect<T>(what: string, run: () => Promise<T>): Promise<EffectOutcome<T>>;
  /**
   * Finds something out that must be the same when the turn goes on after a wait or a crash: an answer that is known is given again.
   * Where none is known `run` may run again, so it changes nothing outside. `run` answers a JSON value. Only for a step that `acts`.
   */
  recorded<T>(run: () => Promise<T>): Promise<T>;
  /**
   * What a person has decided, the same whenever the turn runs again. While nobody has decided, rejects with `Parked`, which the step
   * lets through: the turn waits, and the step runs again from its beginning. `about` is a digest of exactly what is asked: an answer counts for
   * that and for nothing else. Only for a step that `acts`.
   */
  ask(about: string, question: () => Promise<PauseRequest>): Promise<Decision>;
  /** What people have decided in this turn when the steps before this one asked, the first one first. */
  decisions(): readonly Decision[];
  /** One request to a language model. */
  readonly model: CallModel;
  /** Gives whoever listens a piece of a bubble that is being written; `index` is 0 for the first bubble of the answer. */
  say(text: string, index: number): void;
  /**
   * Keeps a secret of this conversation in the vault, in place of the one it had under the name. Resolves with the reference to it.
   * Rejects with a `PlatformError` when the vault cannot be used.
   */
  keepSecret(name: string, value: string): Promise<string>;
  /** Of the configuration: what data brings is never one. */
  readonly references: Pick<References, 'compile' | 'resolve'>;
  /**
   * The token of whoever drives the turn, for a request to this address in their name (E-88 to E-90). `undefined` where it does not go: to another
   * platform, in a turn that no request of theirs drives, for an agent that may not act as them.
   */
  callerToken(url: URL): Promise<string | undefined>;
  /** Tools of MCP servers. */
  readonly mcp: McpTools;
  /** Which calls of tools the agent has a person asked about. */
  readonly approvals: ToolApprovals;
  /** US dollars a conversation of the agent may spend on calls; `undefined` is no limit. */
  readonly callBudgetUsd?: number | undefined;
  /** The one way out: see `createSafeFetch`. */
  readonly fetch: SafeFetch;
  readonly clock: Clock;
  /** Aborts when the turn is cancelled or its time is up. */
  readonly signal: AbortSignal;
  readonly budget: TurnBudget;
  /** Set where somebody asked why: hears from each rules step what its rules came to, as plain data. */
  readonly explain?: ((rules: unknown) => void) | undefined;
  /** The variables of the platform, by name, where the agent's documents ask for them. */
  readonly vars: Readonly<Record<string, string>>;
  /** What kind of installation this is, as its settings say, such as `development`. */
  readonly deploymentEnv: string;
  /** Deployed agents that this one may find and that say they have the skill, by id. */
  capabilities(skill: string): Promise<readonly CapableAgent[]>;
  readonly conversation: {
    readonly conversationId: string;
    readonly agentId: string;
    readonly agentVersion: number;
    readonly environment: string;
    readonly userId: string;
    /** Who says what this turn is about, where that is somebody else. */
    readonly spokenBy?: string | undefined;
  };
}

/** What a turn reaches of MCP servers. */
export interface McpTools {
  /** See `OutboundCalls.offered`. */
  offered: OutboundCalls['offered'];
  /** See `OutboundCalls.call`. */
  call(call: OutboundCall): Promise<CallOutcome>;
  /** See `OutboundCalls.tooOften`. */
  readonly tooOften: OutboundCalls['tooOften'];
  /** A registered server, as it is defined now; `undefined` when there is none. */
  registered(ref: ServerRef): ServerDefinition | undefined;
  /** Tells whoever runs the platform what is odd about an agent. */
  warn(sentence: string, agentId: string): void;
}

/** Says whether the steps after this one still run in this turn. */
export type StepResult = 'continue' | 'stop';

/** A step of a deployed agent with everything parsed and prepared: made once a deployment, run once a turn. */
export interface CompiledStep {
  /** It may call `effect`, `recorded` or `ask`: then the turn can go on from before this step. */
  readonly acts?: boolean;
  /** Documents that it names besides its own set properties. */
  readonly setsProperties?: boolean;
  /** How many earlier turns it looks at; most steps need none but the last. */
  readonly pastTurns?: number;
  run(memory: TurnMemory, tools: StepTools): StepResult | Promise<StepResult>;
  /** Notes in the counters what later turns may ask about this one. Called once, when the turn's steps have run. */
  noteTurn?(turn: PastStep, counters: Counters, budget: TurnBudget): void;
}

/** Reads the body of a referenced document while compiling; rejects with a `PlatformError` when it is not there. */
export type LoadDocument = (ref: DocumentRef) => Promise<unknown>;

/** As written in a workflow document. */
export interface WorkflowStep {
  readonly type: string;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** The agent that a step is compiled for. */
export interface AgentAround {
  /** All steps of its workflows, this one too. */
  readonly steps: readonly WorkflowStep[];
  /** As its document has it, parsed. */
}

/** A row of the table of steps: idea 2 of the architecture. */
export interface StepType {
  readonly type: string;
  /**
   * Throws a `PlatformError` of kind `invalid` that names field, path and remedy; a bad step fails the deployment. Without an agent the step
   * stands alone, as when its document is saved.
   */
  compile(step: WorkflowStep, load: LoadDocument, agent?: AgentAround): Promise<CompiledStep>;
}
