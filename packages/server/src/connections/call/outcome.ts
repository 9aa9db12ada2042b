import { formatServerRef, type ServerDefinition } from '../server/definition.ts';

/** What went wrong with a call, or with the connection it needed. */
export type FailureKind =
  /** No connection: known to be down, refused, no such host, TLS, connect time limit. */
  | 'SERVER_UNAVAILABLE'
  /** The server wants a credential it did not get, or refused the one it got. */
  | 'AUTHENTICATION_FAILED'
  | 'TOOL_NOT_FOUND'
  | 'INVALID_ARGUMENTS'
  /** An error of the protocol, an answer that is none, no revision in common. */
  | 'PROTOCOL_ERROR'
  /** The connection broke behind the request, or the server's HTTP status says that it failed. */
  | 'TRANSPORT_ERROR'
  | 'TIMEOUT'
  /** Cancelled, or the platform stops. */
  | 'INTERRUPTED'
  | 'UNSUPPORTED_RESULT';

/** Did the server get the call? `unknown` is treated as yes: nothing is sent twice. */
export type Reached = 'no' | 'yes' | 'unknown';

/** Why a call was not sent. */
export type RefusalCode =
  /** The agent's policy denies it, or a person would have to approve it and nobody can be asked (EX-12). */
  | 'DENIED'
  /** A person has approved another call than the one it would be now (attack 51). */
  | 'APPROVAL_CHANGED'
  /** A person has approved it, too long ago. */
  | 'APPROVAL_EXPIRED'
  /** Its arguments are not what the tool takes. */
  | 'INVALID_ARGUMENTS'
  /** Too many calls in too short a time. */
  | 'RATE_LIMITED'
  /** The conversation has spent what it may. */
  | 'BUDGET_EXCEEDED'
  /** An earlier run of the turn was cut off while it was under way. */
  | 'OUTCOME_UNKNOWN';

/** What a tool answered, as whoever asked gets it: plain JSON, bounded in size. All of it is the server's word. */
export interface CallResult {
  /** The structured content, else what a text that is JSON says, else the text; the cut text where it is too long. */
  readonly value: unknown;
  /** The same as a text. */
  readonly text: string;
  /** The tool says that it failed (W-47, A-75). */
  readonly isError: boolean;
  /** It was longer than it may be (W-45). */
  readonly cut: boolean;
  /** It comes from a server that is not trusted (W-40). */
  readonly outside: boolean;
  /** What in it looks like instructions to a model. */
  readonly suspicious: readonly string[];
}

/** What is written down of every call, whatever it came to: no arguments, no results. */
export interface CallRecord {
  /** `instance/name`. */
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  /** `answered`, `tool_error`, `needs_approval`, `needs_sign_in`, or why there is no answer. */
  readonly outcome:
    | 'answered'
    | 'tool_error'
    | 'needs_approval'
    | 'needs_sign_in'
    | RefusalCode
    | FailureKind;
  readonly reached: Reached;
  readonly durationMs: number;
  /** How often it was sent. */
  readonly attempts: number;
  /** US dollars; `unknown` where the function that says so failed (W-105); `undefined` without a cost. */
  readonly costUsd: number | 'unknown' | undefined;
}

/** What an approval is about, a digest each: the one call that it allows (field-reports 2.23). */
export interface ApprovalBinding {
  /** Where the call goes, with which credentials. */
  readonly server: string;
  /** The tool as its server defines it. */
  readonly tool: string;
  /** As they are sent. */
  readonly arguments: string;
  /** For whom it is made. */
  readonly person: string;
  /** What the agent and the server's definition ask of calls. */
  readonly policy: string;
}

/** Only of a model's call: nothing was sent, and the same call with an approval of this is. Plain JSON, as it is frozen until then. */
export interface NeedsApproval {
  readonly kind: 'needs-approval';
  readonly binding: ApprovalBinding;
  /** Exactly what is sent when it is approved. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What the tool takes, for whoever would change them. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** A phrase for whoever is asked. */
  readonly reason: string;
  /** The definition of the server asks, not the agent alone: no word of the agent stands for that of a person. */
  readonly serverAsks: boolean;
  /** The line of the agent's own policy that asks, as it is written. */
  readonly matchedRule?: string | undefined;
}

/** The person has no credential at the server, or it takes the one they have no longer: nothing was executed, and the same call can be after they signed in. */
export interface NeedsSignIn {
  readonly kind: 'needs-sign-in';
  /** `instance/name`. */
  readonly server: string;
  /** Of the credential, by name. */
  readonly credential: string;
  /** The one that the server does not take, where they had one: see `PersonalCredential.given`. */
  readonly given?: number | undefined;
  /** Scopes that the server wants besides those they have given. */
  readonly scope?: string | undefined;
  /** One sentence for people. */
  readonly message: string;
}

/** How a call ends. */
export type Ended =
  | { readonly kind: 'answered'; readonly result: CallResult }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message: string }
  | NeedsApproval
  | NeedsSignIn
  | {
      readonly kind: 'failed';
      readonly failure: FailureKind;
      readonly reached: Reached;
      readonly message: string;
    };

/** What a call came to, as plain JSON: the journal of a turn keeps it. */
export type CallOutcome = Ended & { readonly record: CallRecord };

/** How a call ended, in the words of its record. */
export function wordsFor(ended: Ended): Pick<CallRecord, 'outcome' | 'reached'> {
  switch (ended.kind) {
    case 'answered':
      return { outcome: ended.result.isError ? 'tool_error' : 'answered', reached: 'yes' };
    case 'refused':
      return { outcome: ended.code, reached: 'no' };
    case 'needs-approval':
      return { outcome: 'needs_approval', reached: 'no' };
    case 'needs-sign-in':
      return { outcome: 'needs_sign_in', reached: 'no' };
    case 'failed':
      return { outcome: ended.failure, reached: ended.reached };
  }
}

/** What is known of a call whose node went down: it may have arrived, and then it costs what it costs. */
export function unknownCall({ ref, cost }: ServerDefinition, tool: string): CallRecord {
  return {
    server: formatServerRef(ref),
    tool,
    outcome: 'OUTCOME_UNKNOWN',
    reached: 'unknown',
    durationMs: 0,
    attempts: 1,
    costUsd: typeof cost === 'function' ? 'unknown' : cost?.usd,
  };
}
