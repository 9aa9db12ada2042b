import { cut } from '../../connections/tool/govern-text.ts';
import { redactedJson } from '../../kernel/redact.ts';
import type { Pause, Verdict } from '../../store/tables/pauses.ts';

/** A call that a person is asked about. */
export interface WaitingCall {
  /** Names it within its turn. */
  readonly callId: string;
  /** As the model called it. */
  readonly toolName: string;
  /** `default/github`. */
  readonly server: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Why a person is asked, as a phrase. */
  readonly reason: string;
}

/** What a TOOL_CALL pause holds. */
export interface ToolCallsRequest {
  readonly calls: readonly {
    readonly callId: string;
    readonly toolName: string;
    readonly server: string;
    /** JSON, without what stands under the name of a secret. */
    readonly argumentsRedacted: string;
    readonly argsTruncated: boolean;
    readonly gateReason: string;
  }[];
  /** What the person in the conversation is told, where it is not as usual. */
  readonly message?: string | undefined;
  /** What the author of the agent tells whoever decides. */
  readonly reason?: string | undefined;
}

/** What a person may decide about each call; the verdict as a whole counts for the others. */
export interface ToolCallsAnswer {
  readonly toolDecisions?: Readonly<
    Record<string, { readonly verdict: Verdict; readonly note?: string | undefined }>
  >;
}

/** Of one call: what is longer cannot be read by anybody who has to decide. */
const MAX_SHOWN = 20_000;
const MAX_DESCRIBED = 1_000;

/** The tools that a pause is about, as the model called them. */
export function toolNamesIn({ request }: Pick<Pause, 'request'>): readonly string[] {
  return ((request ?? { calls: [] }) as ToolCallsRequest).calls.map(({ toolName }) => toolName);
}

/** What whoever talks to the agent is told of a pause. */
export function pendingMessageOf({
  kind,
  reason,
  request,
}: Pick<Pause, 'kind' | 'reason' | 'request'>): string {
  const usual = `The conversation waits for an approval: ${reason}`;
  return kind === 'TOOL_CALL' ? ((request as ToolCallsRequest).message ?? usual) : usual;
}

export function toolCallsRequest(
  calls: readonly WaitingCall[],
  { message, reason: said }: Pick<ToolCallsRequest, 'message' | 'reason'>,
): ToolCallsRequest {
  return {
    ...(message !== undefined && { message }),
    ...(said !== undefined && { reason: said }),
    calls: calls.map(({ callId, toolName, server, args, reason }) => {
      const json = redactedJson(args);
      return {
        ...{ callId, toolName, server },
        argumentsRedacted: cut(json, MAX_SHOWN),
        argsTruncated: json.length > MAX_SHOWN,
        gateReason: reason,
      };
    }),
  };
}

/** What is asked, for whoever reads a line and not a form. */
export function describeToolCalls({ calls }: ToolCallsRequest): string {
  return calls
    .map(
      ({ toolName, server, argumentsRedacted }) =>
        `call ${toolName} of ${server} with ${cut(argumentsRedacted, MAX_DESCRIBED)}`,
    )
    .join('; ');
}
