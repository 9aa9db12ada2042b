import type { CallToolResult, Implementation, ServerCapabilities, Tool } from '@modelcontextprotocol/server';
import type { PlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';

/** Who called, as the door found out before the protocol is looked at. */
export interface Caller {
  readonly principal: Principal;
}

/** `older` has a handshake, `stateless` (2026-07-28) has none. */
export type Era = 'older' | 'stateless';

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
  /** Session ids are bound to it. */
  readonly name: string;
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
  /** An error worth an operator's attention, with its cause. */
  onFailure(caller: C, error: PlatformError): void;
}
