/** One thing a scripted model answers. In the answer thoughts come first, then text, then calls. */
export interface ScriptedAnswer {
  /** One piece of the stream each. */
  readonly text?: string | readonly string[];
  readonly reasoning?: string | readonly string[];
  readonly calls?: readonly ScriptedCall[];
  /** `tool-calls` where there are calls, else `stop`, unless given. */
  readonly finish?: 'stop' | 'length' | 'content-filter' | 'refusal';
  /** 10 in and 5 out unless given. */
  readonly usage?: ScriptedUsage;
  /** The stream does not come to its end: after so many pieces, all of them unless given. */
  readonly breaks?: {
    readonly after?: number;
    /** Connection destroyed, stream ended as if it were whole, silence, or the provider's own event of a failure. */
    readonly how: 'cut' | 'end' | 'stall' | 'fail';
  };
  /** A failure instead of an answer. */
  readonly status?: number;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Before anything is said. */
  readonly until?: Promise<unknown>;
  readonly delayMs?: number;
}

export interface ScriptedCall {
  readonly name: string;
  /** A text is sent as it is, also where it is no JSON. */
  readonly input: object | string;
  readonly id?: string;
}

export interface ScriptedUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Of `inputTokens`. */
  readonly cacheReadTokens?: number;
  /** Of `outputTokens`. */
  readonly reasoningTokens?: number;
}

export type WireName = 'anthropic' | 'chat-completions' | 'responses' | 'gemini';

/** What a model was asked, the same whatever the wire format. */
export interface SeenConversation {
  readonly model: string;
  readonly system: string;
  readonly messages: readonly SeenMessage[];
  readonly tools: readonly SeenTool[];
}

export type SeenMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly SeenCall[] }
  /** `isError` where the wire format has a way to say it, or the package of the provider has made up one. */
  | { readonly role: 'tool'; readonly id: string; readonly text: string; readonly isError: boolean };

export interface SeenCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface SeenTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
}

/** An answer as parts of one wire format; each text is one or more events. */
export interface WireAnswer {
  readonly begin: string;
  readonly pieces: readonly string[];
  readonly end: string;
}

/** The answer with everything that it leaves open. */
export interface FullAnswer {
  readonly text: readonly string[];
  readonly reasoning: readonly string[];
  readonly calls: readonly (ScriptedCall & { readonly id: string; readonly raw: string })[];
  readonly finish: 'stop' | 'tool-calls' | 'length' | 'content-filter' | 'refusal';
  readonly usage: ScriptedUsage;
}

/** One provider's way to write requests, answers and failures. */
export interface Wire {
  readonly name: WireName;
  /** How the path of a request ends. */
  readonly path: RegExp;
  read(body: JsonObject, path: string): SeenConversation;
  write(answer: FullAnswer, model: string): WireAnswer;
  /** The body of a failed request. */
  failure(status: number, message: string): object;
  /** The event of a failure in the middle of an answer. */
  failed(message: string): string;
}

/** As it came; a scripted model believes what is sent to it. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any member
export type JsonObject = Record<string, any>;

export const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;

/** What is written as one text, of texts or of blocks with a text. */
export function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((block: JsonObject) => (typeof block === 'string' ? block : (block.text ?? '')))
    .join('');
}

/** The result of a tool where the wire format has no place for errors: some packages write them as `{"error": ...}`. */
export function toolText(text: string): { readonly text: string; readonly isError: boolean } {
  const { error } = text.startsWith('{"error":') ? JSON.parse(text) : {};
  return { text: error ?? text, isError: error !== undefined };
}
