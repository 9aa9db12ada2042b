import type { ServerDefinition } from '../server/definition.ts';
import type { ToolStanding } from '../server/server-view.ts';
import type { Connection } from '../session/connection.ts';
import type { Members, Progress } from '../session/wire.ts';
import type { ToolAnnotations } from '../tool/annotations.ts';
import { cut } from '../tool/govern-text.ts';
import type { RemoteTool } from '../tool/remote-tool.ts';
import type { ToolResult } from '../tool/tool-result.ts';
import type { ApprovalBinding, CallRecord, Ended, RefusalCode } from './outcome.ts';
import type { BridgeTool } from './resource-bridge.ts';

/** Who decided about a call: the rules of an agent, its model, or a person by hand. */
export type Driver = 'rule' | 'model' | 'person';

/** What an agent's own policy says of a tool, and why, as a phrase. */
export interface Judgement {
  readonly verdict: 'allow' | 'ask' | 'deny';
  readonly reason: string;
  /** The line that says so, as it is written. */
  readonly rule?: string | undefined;
}

/** Asked with the server's own name of the tool, and with what is believed of it. Must answer the same each time. */
export type Judge = (tool: { readonly name: string; readonly annotations: ToolAnnotations }) => Judgement;

/** For whom a call is made. */
export interface CallFor {
  readonly agentId: string | undefined;
  readonly conversationId: string | undefined;
  readonly userId: string;
  /** See `StepTools.callerToken`; nobody's where it is left out. */
  readonly callerToken?: ((url: URL) => Promise<string | undefined>) | undefined;
  /** Who said what the call is made for, where it is not the same person. */
  readonly spokenBy?: string | undefined;
}

/** How often what may have arrived is sent again, where that is declared (A-69, C26). */
export interface RetryPolicy {
  /** The first one included. */
  readonly maxAttempts: number;
  readonly backoffDelayMs: number;
  readonly backoffMultiplier: number;
  readonly maxBackoffDelayMs: number;
}

/** How long to wait after so many attempts; `undefined` when there is no further one. */
export function waitBeforeNext(retry: RetryPolicy, attempts: number): number | undefined {
  if (attempts >= retry.maxAttempts) return undefined;
  return Math.min(retry.backoffDelayMs * retry.backoffMultiplier ** (attempts - 1), retry.maxBackoffDelayMs);
}

export interface OutboundCall {
  readonly server: ServerDefinition;
  /** The server's own name of it. */
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly driver: Driver;
  readonly callFor: CallFor;
  /** The agent's own policy; the stricter of it and of what the server's definition says counts. Nobody asks it about calls by hand. */
  readonly judge?: Judge | undefined;
  /** Another one for every other policy of the agent: an approval is given under one of them. */
  readonly policyVersion?: string | undefined;
  /** What a person has approved, and until when, in epoch ms: nothing else is sent. Whoever passes it sees to it that it is used once. */
  readonly approval?: (ApprovalBinding & { readonly expiresAt: number }) | undefined;
  /** Calls with the same object are of one turn: all go by the tools as the first of them found them (W-21). */
  readonly turn?: object | undefined;
  readonly retry?: RetryPolicy | undefined;
  /** US dollars the conversation may spend on calls, and has spent. */
  readonly budget?: { readonly limitUsd: number; readonly spentUsd: number } | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Told at the moment the signal ends the call: whoever waits for it may not come back to hear of it. */
  readonly onInterrupted?: ((record: CallRecord) => void) | undefined;
}

/** A call on its way through the table: what each step has found out for those behind it. */
export interface CallInProgress {
  readonly call: OutboundCall;
  /** As they are sent: those of the call, until `validate` has made them what the tool takes. */
  arguments: OutboundCall['arguments'];
  /** Set by `resolve`. */
  connection?: Connection;
  scrub?: ((text: string) => string) | undefined;
  tool?: RemoteTool;
  /** The tool as policies see it, in the list that the turn goes by. */
  listed?: ListedTool;
  /** The same in the list that is the latest when it is called; `undefined` where it is gone by then. Throws a `SessionError` where it is held back. */
  latest?: () => ListedTool | undefined;
  /** A digest of where the call goes, with which credentials. */
  identity?: () => string;
  /** Of this call's requests only: who it is made as. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Set where the tool is our own and stands for resources of the server. */
  bridge?: BridgeTool;
  /** Set by `policy`. Throws where what is sent would not be what was decided about: the server may have come back with another tool. */
  beforeSend?: () => void;
  /** Set by `send`: the result as it came. */
  raw?: Members;
  attempts: number;
  /** Set by `interpret`. */
  result?: ToolResult;
  suspicious?: readonly string[];
}

/** A tool, and how its calls are gated. */
export interface ListedTool extends ToolStanding {
  readonly tool: RemoteTool;
  /** Of the server's definition as it is now. */
  readonly gated: ServerDefinition['gated'];
}

/** Ends a call at the moment it would be sent: nothing was. */
export class LateRefusal extends Error {
  readonly ended: Ended;

  constructor(ended: Ended) {
    super('the call was refused when it was about to be sent');
    this.ended = ended;
  }
}

/**
 * A row of the table of an outbound call (architecture, idea 3). Ends the call, or lets it pass. Rejects with a `SessionError` where the server
 * failed, and with the reason of the call's signal.
 */
export interface CallStep {
  readonly name: string;
  run(call: CallInProgress): Promise<Ended | undefined> | Ended | undefined;
}

/** A schema may have a long list of what is allowed. */
const MAX_MESSAGE = 1_000;

export function refuse(code: RefusalCode, message: string): Ended {
  return { kind: 'refused', code, message: cut(message, MAX_MESSAGE) };
}
