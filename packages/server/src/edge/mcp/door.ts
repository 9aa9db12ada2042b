import type { CallToolResult, Implementation, ServerCapabilities, Tool } from '@modelcontextprotocol/server';
import type { Logger } from '../../kernel/logger.ts';
import type { Principal } from '../../kernel/principal.ts';

/** The revisions with a handshake, or the one without (mcp.md 1.1). */
export type Era = 'older' | 'stateless';

/** Who called, as the door found out before the protocol is looked at. */
export interface Caller {
  readonly principal: Principal;
  readonly log: Logger;
  /** Quoted in `internal` errors, so that the log line can be found. */
  readonly traceId: string;
}

/** What a tool call may use while it runs. */
export interface CallContext {
  readonly signal: AbortSignal;
  /** Heard by callers that stream, nothing to others. */
  progress(message: string): void;
}

/** A call that can no longer be refused. Exactly one of `run` and `abandon` is called. */
export interface PreparedCall {
  /** Runs a turn, so the answer opens a stream at once for callers that take one; others are answered as one JSON. */
  readonly streams: boolean;
  /** Rejects with a `PlatformError` only where the door answers failures as protocol errors. */
  run(context: CallContext): Promise<CallToolResult>;
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
  prepareCall(caller: C, tool: string, args: Record<string, unknown>, era: Era): Promise<PreparedCall>;
  readonly resources?: DoorResources<C>;
}
