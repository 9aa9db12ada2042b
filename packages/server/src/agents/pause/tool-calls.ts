import type { ApprovalBinding } from '../../connections/call/outcome.ts';
import { mismatchIn } from '../../connections/tool/check-arguments.ts';
import { cut } from '../../connections/tool/govern-text.ts';
import { sha256OfJson } from '../../kernel/digest.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Pause, PauseKind, Verdict } from '../../store/tables/pauses.ts';
import type { ToolSource } from '../approval/tool-pattern.ts';
import { shownArguments } from './shown-arguments.ts';

/** A call that a person is asked about. */
export interface WaitingCall {
  /** Names it within its turn. */
  readonly callId: string;
  /** As the model called it. */
  readonly toolName: string;
  readonly source: ToolSource;
  /** `default/github`. */
  readonly server: string;
  /** As they are sent. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly binding: ApprovalBinding;
  /** Why a person is asked, as a phrase. */
  readonly reason: string;
  /** The line of the agent's own policy that asks. */
  readonly matchedRule: string | undefined;
}

/** A call as whoever decides sees it (platform.md 5.3). */
export interface ShownCall extends Pick<WaitingCall, 'callId' | 'toolName' | 'source' | 'server'> {
  /** See `shownArguments`; cut where `argsTruncated`. */
  readonly argumentsRedacted: string;
  readonly argsTruncated: boolean;
  readonly gateReason: string;
  readonly matchedRule?: string | undefined;
}

/** What a TOOL_CALL pause holds. */
export interface ToolCallsRequest {
  readonly calls: readonly ShownCall[];
  /** What the person in the conversation is told, where it is not as usual. */
  readonly message?: string | undefined;
  /** What the author of the agent tells whoever decides. */
  readonly reason?: string | undefined;
}

/** What is sent when it is approved: nobody is shown it as it stands here. */
interface FrozenCalls {
  readonly calls: readonly Pick<WaitingCall, 'callId' | 'args' | 'inputSchema'>[];
}

/** What a person decides about one of the calls. */
export interface CallDecision {
  readonly verdict: Verdict;
  readonly note?: string | undefined;
  /** Sent in place of what the model wrote. */
  readonly amendedArguments?: Readonly<Record<string, unknown>> | undefined;
}

/** What a person decided about each call; the verdict as a whole counts for the others. */
export interface ToolCallsAnswer {
  readonly toolDecisions?: Readonly<Record<string, CallDecision>>;
}

/** Of one call, for whoever looks at all of a pause at once; the rest is shown where a single pause is looked at. */
const MAX_SHOWN = 2_000;
/** Of one call: what is longer nobody reads, and so nobody approves. */
export const MAX_READABLE = 100_000;
/** One person looks at so many at once. */
export const MAX_ASKED = 20;

/** The pause of these calls, as it is shown and as it is frozen. */
export function toolCallsPause(
  calls: readonly WaitingCall[],
  { message, reason: said }: Pick<ToolCallsRequest, 'message' | 'reason'>,
): { readonly request: ToolCallsRequest; readonly frozen: FrozenCalls } {
  return {
    request: {
      ...(message !== undefined && { message }),
      ...(said !== undefined && { reason: said }),
      calls: calls.map(({ callId, toolName, source, server, args, reason, matchedRule }) => {
        const shown = shownArguments(args);
        return {
          ...{ callId, toolName, source, server },
          argumentsRedacted: cut(shown, MAX_SHOWN),
          argsTruncated: shown.length > MAX_SHOWN,
          gateReason: reason,
          ...(matchedRule !== undefined && { matchedRule }),
        };
      }),
    },
    frozen: { calls: calls.map(({ callId, args, inputSchema }) => ({ callId, args, inputSchema })) },
  };
}

/** A digest of exactly what is asked: an approval is of this and of nothing else. */
export function digestOfCalls(
  calls: readonly Pick<WaitingCall, 'callId' | 'toolName' | 'binding'>[],
): string {
  return sha256OfJson(calls.map(({ callId, toolName, binding }) => ({ callId, toolName, binding })));
}

type OfCalls = Pick<Pause, 'kind' | 'request'>;

/** The calls that a pause is about; none of a pause of another kind. */
export function callsIn({ kind, request }: OfCalls): readonly ShownCall[] {
  return kind === 'TOOL_CALL' ? (request as ToolCallsRequest).calls : [];
}

/** The same with all of their arguments. */
export function wholeCallsIn(pause: OfCalls & Pick<Pause, 'frozen'>): readonly ShownCall[] {
  const { calls: frozen } = (pause.frozen ?? { calls: [] }) as FrozenCalls;
  return callsIn(pause).map(call => {
    const args = frozen.find(({ callId }) => callId === call.callId)?.args;
    return args ? { ...call, argumentsRedacted: shownArguments(args), argsTruncated: false } : call;
  });
}

/** The tools that a pause is about, as the model called them. */
export function toolNamesIn(pause: OfCalls): string[] {
  return [...new Set(callsIn(pause).map(({ toolName }) => toolName))];
}

/** What a conversation waits for, as whoever talks to the agent is told: names, and never arguments (platform.md 2.2). */
export interface WaitsFor {
  readonly pauseType: PauseKind;
  /** Of a TOOL_CALL pause. */
  readonly tools?: string[];
}

export function waitsFor(pause: OfCalls): WaitsFor {
  const { kind: pauseType } = pause;
  return { pauseType, ...(pauseType === 'TOOL_CALL' && { tools: toolNamesIn(pause) }) };
}

/** What whoever talks to the agent is told of a pause: which tools, and never with which arguments (platform.md 2.2). */
export function pendingMessageOf(pause: Pick<Pause, 'kind' | 'reason' | 'request'>): string {
  const usual = `The conversation waits for an approval: ${pause.reason}`;
  return pause.kind === 'TOOL_CALL' ? ((pause.request as ToolCallsRequest).message ?? usual) : usual;
}

/**
 * What is decided about each call, once it fits the pause. Throws a `PlatformError` of kind `invalid`: for a call that does not wait, for an approval
 * within a rejection, for arguments its tool does not take, and for an approval of what was not shown whole by somebody who does not say
 * which pause they have looked at.
 */
export function readToolDecisions(
  pause: OfCalls & Pick<Pause, 'frozen'>,
  decision: {
    readonly verdict: Verdict;
    readonly pauseId?: string | undefined;
    readonly toolDecisions?: Readonly<Record<string, CallDecision>> | undefined;
  },
): ToolCallsAnswer | undefined {
  const { verdict, pauseId, toolDecisions = {} } = decision;
  const calls = callsIn(pause);
  for (const [callId, one] of Object.entries(toolDecisions)) {
    const problem = calls.some(call => call.callId === callId)
      ? problemOf(pause, callId, one, verdict)
      : `the conversation waits for no such call; it waits for ${calls.map(call => call.callId).join(', ') || 'none'}`;
    if (problem !== undefined) throw new PlatformError('invalid', `toolDecisions.${callId}: ${problem}.`);
  }
  const unread = calls.find(
    ({ callId, argsTruncated }) =>
      argsTruncated && (toolDecisions[callId]?.verdict ?? verdict) === 'APPROVED' && pauseId === undefined,
  );
  if (unread) {
    throw new PlatformError(
      'invalid',
      `The arguments of ${unread.toolName} (call ${unread.callId}) are too long to be shown whole in a list: read them with get_approval_status and detail full, then decide with its pauseId.`,
    );
  }
  return Object.keys(toolDecisions).length === 0 ? undefined : { toolDecisions };
}

function problemOf(
  { frozen }: Pick<Pause, 'frozen'>,
  callId: string,
  { verdict, amendedArguments }: CallDecision,
  overall: Verdict,
): string | undefined {
  if (overall === 'REJECTED' && verdict === 'APPROVED')
    return 'cannot be APPROVED where the whole is REJECTED; approve the whole, and reject the others here';
  if (amendedArguments === undefined) return undefined;
  if (verdict === 'REJECTED')
    return 'has other arguments and is REJECTED; a call is either changed or refused';
  const { inputSchema } = (frozen as FrozenCalls).calls.find(call => call.callId === callId)!;
  if (shownArguments(amendedArguments).length > MAX_READABLE)
    return `amendedArguments must have at most ${MAX_READABLE} characters`;
  const mismatch = mismatchIn(inputSchema, amendedArguments);
  return mismatch && `amendedArguments${mismatch.path && `.${mismatch.path}`} ${mismatch.says}`;
}
