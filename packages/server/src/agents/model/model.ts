import type { RetryPolicy } from '../../connections/call/outbound-call.ts';
import type { ProviderName } from './providers.ts';

// What is said to a model and what it answers, whichever provider has it: plain JSON, because the journal of a turn keeps it.

export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly parts: readonly AnswerPart[] }
  | { readonly role: 'tool'; readonly results: readonly ToolReply[] };

/** What a provider adds for itself, such as the signature of a thought: carried back to it as it came. */
export type ProviderMeta = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export type AnswerPart =
  | { readonly type: 'text'; readonly text: string; readonly meta?: ProviderMeta }
  | { readonly type: 'reasoning'; readonly text: string; readonly meta?: ProviderMeta }
  | {
      readonly type: 'tool-call';
      readonly callId: string;
      readonly name: string;
      /** The arguments as the model wrote them: JSON, unless it made a mistake. */
      readonly input: string;
      readonly meta?: ProviderMeta;
    };

/** What a call of a model came to, as the model is told. */
export interface ToolReply {
  readonly callId: string;
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface ModelTool {
  /** As the model sees it. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema, already as the provider takes it. */
  readonly inputSchema: object;
}

export interface ModelRequest {
  readonly provider: ProviderName;
  readonly model: string;
  /** The key itself. */
  readonly apiKey?: string | undefined;
  /** Instead of the provider's own address. */
  readonly baseUrl?: string | undefined;
  /** What is secret of these two, besides the key: it stands in no message and no line of the log. */
  readonly secrets?: readonly string[] | undefined;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** False where the model has to answer without calling any of them. */
  readonly mayCall?: boolean | undefined;
  readonly temperature?: number | undefined;
  /** Of one answer. */
  readonly maxTokens?: number | undefined;
  /** The answer shall be JSON. */
  readonly json?: { readonly schema?: object | undefined } | undefined;
  /** Between two pieces of the answer, and until the first. */
  readonly timeoutMs: number;
  /** Of one attempt, from its request to the end of its answer. */
  readonly totalMs: number;
  readonly retry: RetryPolicy;
  readonly signal: AbortSignal;
  /**
   * Hears the text while it is written. When an answer broke off and is asked for again, it hears what goes beyond what it has heard; nothing more
   * where the new text is another one.
   */
  readonly onText?: ((delta: string) => void) | undefined;
}

export type ModelOutcome =
  | {
      readonly kind: 'answered';
      readonly parts: readonly AnswerPart[];
      readonly finish: ModelFinish;
      readonly usage: ModelUsage;
      /** How often it was asked. */
      readonly attempts: number;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'failed';
      readonly code: ModelFailure;
      /** For the agent's author: provider, status and remedy. No secrets, nothing of the answer's body but the provider's own short message. */
      readonly message: string;
      /** For whoever talks to the agent, where that is less: no address, and nothing that the provider said. */
      readonly told?: string;
      readonly usage?: ModelUsage;
      readonly attempts: number;
      readonly durationMs: number;
    };

/** Why the model stopped. `length`: the answer is cut; `content-filter`: the provider or the model refused. */
export type ModelFinish = 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'other';

export type ModelFailure =
  | 'AUTHENTICATION_FAILED'
  | 'MODEL_NOT_FOUND'
  | 'RATE_LIMITED'
  | 'OVERLOADED'
  | 'UNAVAILABLE'
  | 'TIMEOUT'
  | 'BAD_REQUEST'
  | 'CONTEXT_TOO_LONG'
  /** The answer ended before its end, each time. */
  | 'CUT_OFF'
  | 'PROTOCOL_ERROR';

/** In tokens, as the provider counts them. */
export interface ModelUsage {
  /** With those read from a cache. */
  readonly inputTokens: number;
  /** With those of reasoning. */
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly reasoningTokens?: number;
}

/** Asks a model once. Rejects only with the reason of the request's signal, or with a fault of ours. */
export type CallModel = (request: ModelRequest) => Promise<ModelOutcome>;
