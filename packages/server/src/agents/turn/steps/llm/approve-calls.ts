import { bindingFor } from '../../../../connections/call/approval.ts';
import type { CallOutcome } from '../../../../connections/call/outcome.ts';
import { canonicalJson } from '../../../../kernel/json.ts';
import type { Decision } from '../../../../store/tables/pauses.ts';
import type { ToolApprovals } from '../../../approval/tool-approvals.ts';
import type { NamedTool } from '../../../approval/tool-pattern.ts';
import { BY_TIMEOUT } from '../../../pause/jobs.ts';
import { shownArguments } from '../../../pause/shown-arguments.ts';
import { isAboutSignIn } from '../../../pause/sign-in.ts';
import {
  digestOfCalls,
  MAX_ASKED,
  MAX_READABLE,
  type ToolCallsAnswer,
  toolCallsPause,
  toolNamesIn,
} from '../../../pause/tool-calls.ts';
import type { PauseRequest, StepTools } from '../../../step/step.ts';
import { noSignIns, type SignIns } from '../ask-to-sign-in.ts';
import type { Approval, Toolbox } from './callable-tool.ts';
import { failure, type Reply } from './reply.ts';

/** A call that came back because a person must approve it: nothing was sent. */
export interface GatedCall {
  /** Names it within its turn. */
  readonly callId: string;
  /** As the model called it. */
  readonly name: string;
  readonly outcome: Extract<CallOutcome, { kind: 'needs-approval' }>;
}

/** What becomes of a call that a person was asked about. */
export type Approved =
  | {
      readonly kind: 'approved';
      /** As they were shown, or as whoever approved them wrote them. */
      readonly args: Readonly<Record<string, unknown>>;
      readonly approval: Approval;
      /** What the model is told besides the result. */
      readonly remark: string | undefined;
    }
  | { readonly kind: 'refused'; readonly reply: Reply };

/** What was asked in a turn, whatever task of it asked. */
export interface AskedBefore {
  /** Calls that were refused, by name and arguments: nobody is asked about them again (field-reports 2.23). */
  readonly refused: Map<string, Reply>;
  /** How often the turn has waited for a person. */
  waits: number;
  /** How often nobody came, and the clock approved. */
  autoApprovals: number;
  readonly signIns: SignIns;
}

/** At the beginning of a step; `decisions` are those of the steps before it. */
export function askedBefore(decisions: readonly Decision[]): AskedBefore {
  const approvals = decisions.filter(decision => !isAboutSignIn(decision));
  return {
    refused: new Map(),
    waits: approvals.length,
    autoApprovals: approvals.filter(isByClock).length,
    signIns: noSignIns(),
  };
}

function isByClock({ decidedBy, verdict }: Decision): boolean {
  return decidedBy === BY_TIMEOUT && verdict === 'APPROVED';
}

/** What the pauses of a task share. */
export interface AskingTurn {
  readonly tools: Pick<StepTools, 'ask'>;
  readonly toolbox: Toolbox;
  readonly approvals: ToolApprovals;
  readonly asked: AskedBefore;
}

/** How long what a person has approved may be sent. */
const APPROVED_FOR_MS = 3_600_000;

/**
 * Has a person decide about calls, all of them in one pause. Answers for each what becomes of it; an approval is of exactly the call that was
 * asked about, and is used once. Rejects with `Parked` while nobody has decided.
 */
export async function askAbout(
  gated: readonly GatedCall[],
  turn: AskingTurn,
): Promise<ReadonlyMap<string, Approved>> {
  const become = new Map<string, Approved>();
  const asked: GatedCall[] = [];
  for (const call of gated) {
    const reply = turn.asked.refused.get(keyOf(call)) ?? whyNotAsked(call, asked.length);
    if (reply) become.set(call.callId, { kind: 'refused', reply });
    else asked.push(call);
  }
  if (asked.length === 0) return become;
  turn.asked.waits += 1;
  const { maxPausesPerTurn } = turn.approvals;
  if (turn.asked.waits > maxPausesPerTurn) {
    const reply = failure(
      'hitl_pause_cap',
      `a person was asked ${maxPausesPerTurn} times in this turn already; nothing was called. Answer with what you know.`,
    );
    for (const { callId } of asked) become.set(callId, { kind: 'refused', reply });
    return become;
  }
  const about = digestOfCalls(
    asked.map(({ callId, name, outcome: { binding } }) => ({ callId, toolName: name, binding })),
  );
  const decision = await turn.tools.ask(about, () => questionAbout(asked, turn));
  if (isByClock(decision)) turn.asked.autoApprovals += 1;
  for (const call of asked) become.set(call.callId, becomes(call, decision, turn));
  return become;
}

/** By what is sent: the same call, whatever the model names it within its answer. */
function keyOf({ name, outcome }: GatedCall): string {
  return `${name} ${canonicalJson(outcome.arguments)}`;
}

/** What no person could look at is no question to one. */
function whyNotAsked({ outcome }: GatedCall, before: number): Reply | undefined {
  const { length } = shownArguments(outcome.arguments);
  if (length > MAX_READABLE) {
    return failure(
      'ARGUMENTS_TOO_LONG',
      `a person must approve this call, and its arguments have ${length} characters, of which nobody reads more than ${MAX_READABLE}; nothing was called. Send less at once.`,
    );
  }
  if (before < MAX_ASKED) return undefined;
  return failure(
    'TOO_MANY_CALLS',
    `a person must approve this call, and is asked about at most ${MAX_ASKED} at once; nothing was called. Call it again after the others.`,
  );
}

async function questionAbout(
  asked: readonly GatedCall[],
  { toolbox, approvals, asked: before }: AskingTurn,
): Promise<PauseRequest> {
  const calls = await Promise.all(
    asked.map(async ({ callId, name, outcome }) => {
      const tool = await toolbox.find(name);
      const named: NamedTool = tool?.named ?? {
        source: 'mcp',
        exposedName: name,
        name: outcome.record.tool,
      };
      const { arguments: args, inputSchema, binding, reason, serverAsks, matchedRule, record } = outcome;
      return {
        asked: { ...named, serverAsks },
        waiting: {
          ...{ callId, toolName: name, source: named.source, server: record.server },
          ...{ args, inputSchema, binding, reason, matchedRule },
        },
      };
    }),
  );
  const terms = approvals.pauseTermsFor(
    calls.map(({ asked }) => asked),
    before.autoApprovals,
  );
  const { timeoutPolicy, approvalTimeout } = terms;
  const pause = toolCallsPause(
    calls.map(({ waiting }) => waiting),
    { message: terms.message, reason: terms.reason },
  );
  const names = toolNamesIn({ kind: 'TOOL_CALL', request: pause.request }).join(', ');
  const reason = terms.reason ?? `The agent asks for approval before it calls ${names}.`;
  return { kind: 'TOOL_CALL', timeoutPolicy, approvalTimeout, reason, ...pause };
}

function becomes(call: GatedCall, decision: Decision, { asked: { refused } }: AskingTurn): Approved {
  const { callId, outcome } = call;
  const { toolDecisions = {} } = (decision.answer ?? {}) as ToolCallsAnswer;
  const own = Object.hasOwn(toolDecisions, callId) ? toolDecisions[callId] : undefined;
  const { verdict, note } = own ?? decision;
  if (verdict === 'APPROVED') {
    const amended = own?.amendedArguments;
    const args = amended ?? outcome.arguments;
    const binding = amended ? bindingFor(amended, outcome.binding) : outcome.binding;
    return {
      ...{ kind: 'approved', args, remark: remarkOf(note, amended) },
      approval: {
        ...{ ...binding, expiresAt: decision.decidedAt + APPROVED_FOR_MS },
        ...(amended && { shown: outcome.arguments }),
      },
    };
  }
  const why =
    decision.decidedBy === BY_TIMEOUT
      ? 'nobody approved it in time'
      : `a person said no${note ? `: ${note}` : ''}`;
  const reply = failure('REJECTED', `${why}; nothing was called. Do not call it again like this.`);
  refused.set(keyOf(call), reply);
  return { kind: 'refused', reply };
}

function remarkOf(note: string | undefined, amended: object | undefined): string | undefined {
  const remarks = [
    ...(amended
      ? [`A person changed the arguments to ${JSON.stringify(amended)} and approved the call.`]
      : []),
    ...(note ? [`Whoever approved the call says: ${note}`] : []),
  ];
  return remarks.length > 0 ? remarks.join('\n') : undefined;
}
