import type {
  CallToolResult,
  ElicitRequestFormParams,
  Implementation,
  InputRequiredResult,
  ServerCapabilities,
  Tool,
} from '@modelcontextprotocol/server';
import type { Logger } from '../../kernel/logger.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { OpenCall } from '../http/open-credentials.ts';

/** The revisions with a handshake, or the one without (mcp.md 1.1). */
export type Era = 'older' | 'stateless';

/** Who called, as the door found out before the protocol is looked at. */
export interface Caller {
  readonly principal: Principal;
  readonly log: Logger;
  /** Quoted in `internal` errors, so that the log line can be found. */
  readonly traceId: string;
  /** Its calls are run as long as the caller would still be let in. */
  readonly open: OpenCall;
}

/** What a tool call may use while it runs. */
export interface CallContext {
  readonly signal: AbortSignal;
  /** Heard by callers that stream, nothing to others. Without a message it only says that the call is still alive. */
  progress(message?: string): void;
  /** How the person at the client is asked something, if the client can ask them. */
  asking(): Asking | undefined;
}

/** What a client can show its person (mcp.md 1.2, elicitation). */
export interface Shows {
  readonly forms: boolean;
  /** It asks them to open an address. */
  readonly urls: boolean;
}

/** A form for the person at a client, or an address for them to open. */
export type Question = FormQuestion | UrlQuestion;

interface Asked {
  /** Names it to the client, and in its answer. */
  readonly id: string;
  readonly message: string;
}

export interface FormQuestion extends Asked {
  readonly requestedSchema: ElicitRequestFormParams['requestedSchema'];
}

/** The answer says whether they want to; what they do there, nobody tells the client. */
export interface UrlQuestion extends Asked {
  readonly url: string;
}

/** What the client made of a question. `content` is whatever it sent. */
export type Answer =
  | { readonly action: 'accept'; readonly content: unknown }
  | { readonly action: 'decline' | 'cancel' };

export type Asking =
  /** Older eras: on the call's own stream, and the answer is a message of its own to any node; see `McpDoor.takeAnswer`. */
  | {
      readonly by: 'message';
      readonly shows: Shows;
      send(question: Question): void;
      /** What they were to do at an address is done. */
      completed(id: string): void;
      /** The answer is no longer wanted. */
      withdraw(id: string): void;
      /** Nobody reads the stream any more. */
      readonly gone: AbortSignal;
    }
  /** Stateless era: the call ends with the question and is repeated with the answer. */
  | { readonly by: 'result'; readonly shows: Shows };

/** The repeat of a call that ended with a question (MRTR). Both members may be anything. */
export interface RepeatedCall {
  readonly state: string;
  readonly answers: unknown;
}

/** A call that can no longer be refused. Exactly one of `run` and `abandon` is called. */
export interface PreparedCall {
  /** Runs a turn, so the answer opens a stream at once for callers that take one; others are answered as one JSON. */
  readonly streams: boolean;
  /** Rejects with a `PlatformError` only where the door answers failures as protocol errors. */
  run(context: CallContext): Promise<CallToolResult | InputRequiredResult>;
  /** Gives back what preparing took: the protocol layer refused the request after all. */
  abandon(): Promise<void>;
}

/** The resource half of a door, where it has one. */
export interface DoorResources<C extends Caller> {
  list(caller: C): Promise<{ resources: { uri: string; name: string; title?: string; mimeType?: string }[] }>;
  templates(caller: C): Promise<{
    resourceTemplates: { uriTemplate: string; name: string; title?: string; mimeType?: string }[];
  }>;
  /** `undefined` when there is no such resource. */
  read(caller: C, uri: string): Promise<{ uri: string; mimeType: string; text: string } | undefined>;
  /** The JSON-RPC integer of a refused read (E-67). */
  readonly forbiddenCode: number;
}

/** What one MCP door offers. The protocol itself is the same for both and lives in this folder. */
export interface McpDoor<C extends Caller> {
  /** What a session id is good for: no session reaches from one agent to another (B-09). */
  resource(caller: C): string;
  readonly capabilities: ServerCapabilities;
  serverInfo(caller: C): Implementation;
  instructions(caller: C): string | undefined;
  tools(caller: C): readonly Tool[];
  /**
   * Everything that can refuse a call, before the first byte of an answer. Rejects with a `PlatformError`, answered as a
   * protocol error with its documented HTTP status.
   */
  prepareCall(
    caller: C,
    tool: string,
    args: Record<string, unknown>,
    era: Era,
    repeated?: RepeatedCall,
  ): Promise<PreparedCall>;
  /** Is this the id of a question of this door's? */
  isQuestion?(id: string): boolean;
  /**
   * What a client of the older eras answers to a question, whichever node asked. `id` is `undefined` for one that can ask nobody: nothing was
   * asked of it. Rejects with a `PlatformError`.
   */
  takeAnswer?(caller: C, id: string | undefined, answer: Answer): Promise<void>;
  readonly resources?: DoorResources<C>;
}
