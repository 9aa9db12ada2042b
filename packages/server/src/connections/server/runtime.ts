import type { FailureKind, Reached } from '../call/outcome.ts';
import type { ServerRef } from './definition.ts';

/** `degraded` is usable, but not all that is expected of it is there. */
export type ServerState = 'unknown' | 'available' | 'degraded' | 'unavailable';

/** Why a server has no connection. */
export interface ServerProblem {
  readonly kind: FailureKind;
  /** One sentence for people, without secrets. */
  readonly message: string;
  /** Milliseconds since 1970 of the last failed try. */
  readonly at: number;
  /** Tries that failed since it was last connected. */
  readonly failures: number;
  /** When the next try is due; `undefined` while nothing waits for one. */
  readonly retryAt: number | undefined;
}

/** What this node knows of a server. Kept in memory. */
export interface ServerHealth {
  readonly state: ServerState;
  /** Tools it offers to agents; 0 while it is down (W-107). */
  readonly toolCount: number;
  /** Set while it is `unavailable`. */
  readonly problem: ServerProblem | undefined;
  /** Why it is `degraded`: a sentence each, such as a missing tool. */
  readonly shortcomings: readonly string[];
  /** As it introduced itself, and the revision that is spoken with it. */
  readonly speaks: { readonly name: string; readonly version: string; readonly protocol: string } | undefined;
  /** The last lines a command wrote to its standard error, oldest first, without secrets. */
  readonly stderr: readonly string[];
}

/** A tool as a server has it now, with its texts as agents get them. */
export interface ServerTool {
  /** The server's own name of it. */
  readonly name: string;
  /** Under which agents get it; `undefined` for one that they do not get. */
  readonly offeredAs: string | undefined;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Without the hints the server does not give (W-94). */
  readonly annotations: Readonly<Record<string, unknown>>;
  /** `left-out` by `only` and `except`; `held` because it changed since it was accepted; `quarantined` because it cannot be used. */
  readonly standing: 'offered' | 'left-out' | 'held' | 'quarantined';
  /** Why it is held or quarantined, in a sentence. */
  readonly reason: string | undefined;
  /** What is different from what a person accepted, a line each; empty when nothing is. */
  readonly changes: readonly string[];
  /** Of the tool as it is now, where it is another than was accepted or is held: who accepts it says what was looked at. */
  readonly digest: string | undefined;
}

/** How a call that a person made by hand ended. Plain JSON. */
export type ServerToolAnswer =
  | {
      readonly kind: 'answered';
      /** The tool itself reported an error. */
      readonly isError: boolean;
      readonly structuredContent: unknown;
      /** Text parts joined, other parts described (W-48). */
      readonly text: string;
      /** It was longer than `maxResultBytes` (W-45). */
      readonly cut: boolean;
      /** The server is not trusted (W-40). */
      readonly outside: boolean;
      /** What in it looks like instructions to a model. */
      readonly suspicious: readonly string[];
    }
  /** Nothing was sent. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  | {
      readonly kind: 'failed';
      readonly failure: FailureKind;
      readonly reached: Reached;
      readonly message: string;
    };

/**
 * The live side of the registered servers, for the operations. Every member takes a server of the registry; of one that is not
 * there nothing is known. Guarantees: no secret in anything it answers; everything it answers is bounded in length.
 */
export interface ServersRuntime {
  /** What is known now; waits for nothing. */
  health(ref: ServerRef): ServerHealth;
  /** Resolves when the try to connect that is under way, or due at once, has ended; never later than the server's own connect time limit. */
  settle(ref: ServerRef, signal: AbortSignal): Promise<void>;
  /** The tools as they were listed last, those that agents do not get too; empty when there never was a connection. */
  tools(ref: ServerRef): readonly ServerTool[];
  /**
   * Takes tools as they are now for accepted; all of the server's unless names are given. Resolves with the names. Rejects with a
   * `PlatformError`: `not_found` for a tool the server does not have, `conflict` for one whose digest is another than was looked at,
   * `unavailable` while it is down.
   */
  accept(
    ref: ServerRef,
    options: {
      readonly tools: readonly string[] | undefined;
      /** By name. */
      readonly digests?: Readonly<Record<string, string>> | undefined;
      readonly by: string;
    },
  ): Promise<readonly string[]>;
  /** Calls a tool by the server's own name of it, whether or not agents get it, through the table of an outbound call. */
  call(
    ref: ServerRef,
    call: {
      readonly tool: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly by: string;
      readonly signal: AbortSignal;
    },
  ): Promise<ServerToolAnswer>;
}
