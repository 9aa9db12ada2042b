import type { CallOutcome } from '../../../../connections/call/outcome.ts';
import { canonicalJson, isObject, parseJson } from '../../../../kernel/json.ts';
import type { ToolApprovals } from '../../../approval/tool-approvals.ts';
import type { NamedTool } from '../../../approval/tool-pattern.ts';
import type { AnswerPart, ToolReply } from '../../../model/model.ts';
import { BY_TIMEOUT } from '../../../pause/jobs.ts';
import {
  describeToolCalls,
  type ToolCallsAnswer,
  toolCallsRequest,
  type WaitingCall,
} from '../../../pause/tool-calls.ts';
import type { StepTools, TurnMemory } from '../../../step/step.ts';
import { measureCall } from '../measure-call.ts';
import type { Approval, Toolbox } from './callable-tool.ts';
import { failure, type Reply, type ReplyTerms, replyOf } from './reply.ts';

export type ModelCall = Extract<AnswerPart, { type: 'tool-call' }>;

/** How long what a person has approved may be sent. */
const APPROVED_FOR_MS = 3_600_000;

/** What the calls of a turn share. */
export interface CallsTurn {
  readonly memory: TurnMemory;
  readonly tools: StepTools;
  readonly toolbox: Toolbox;
  readonly approvals: ToolApprovals;
  readonly replies: ReplyTerms;
  /** Of the task, for what is remembered. */
  readonly taskId: string;
  /** Calls that a person has refused in this turn, by name and arguments: nobody is asked about them again. */
  readonly refused: Map<string, Reply>;
  /** How often this turn has waited for a person. */
  waits: number;
  /** How often nobody came, and the clock approved. */
  autoApprovals: number;
}

/** A call with its arguments read, and where it stands in its turn. */
interface ReadCall extends ModelCall {
  readonly args: Readonly<Record<string, unknown>> | undefined;
  readonly place: string;
}

type Made = CallOutcome | { readonly kind: 'told'; readonly reply: Reply };
type Asked = Extract<CallOutcome, { kind: 'needs-approval' }>;

/**
 * Makes the calls of one answer of a model, all at once, each once whatever happens to this node (see `StepTools.effect`). Those that a
 * person must approve are asked for together when the others are done; then the approved ones are made, with exactly the arguments that
 * were shown. Answers with a reply for each, in their order. Rejects with `Parked` while nobody has decided.
 */
export async function makeCalls(
  calls: readonly ModelCall[],
  round: number,
  turn: CallsTurn,
): Promise<ToolReply[]> {
  const read = calls.map(
    (call, index): ReadCall => ({ ...call, args: argumentsOf(call), place: `${round}.${index}` }),
  );
  const made = await Promise.all(read.map(call => makeOne(call, undefined, turn)));
  const waiting = read.flatMap((call, index) => {
    const outcome = made[index]!;
    return outcome.kind === 'needs-approval' && !turn.refused.has(keyOf(call)) ? [{ call, outcome }] : [];
  });
  const decided = waiting.length === 0 ? new Map<string, Made>() : await askAndMake(waiting, turn);
  return read.map((call, index) => {
    const outcome = decided.get(call.place) ?? made[index]!;
    const reply =
      outcome.kind === 'needs-approval' ? turn.refused.get(keyOf(call))! : replyFor(call, outcome, turn);
    return { callId: call.callId, name: call.name, ...reply };
  });
}

/** Some models write nothing where there are no arguments. */
function argumentsOf({ input }: ModelCall): ReadCall['args'] {
  if (input.trim() === '') return {};
  const json = parseJson(input, { maxDepth: 100 });
  return json.ok && isObject(json.value) ? json.value : undefined;
}

function keyOf({ name, args }: ReadCall): string {
  return `${name} ${canonicalJson(args)}`;
}

async function makeOne(call: ReadCall, approval: Approval | undefined, turn: CallsTurn): Promise<Made> {
  const { args, name } = call;
  if (!args) {
    return {
      kind: 'told',
      reply: failure(
        'INVALID_ARGUMENTS',
        'the arguments are no JSON object; nothing was called. Write them again.',
      ),
    };
  }
  const { tools, toolbox } = turn;
  const effect = await tools.effect(whatFor(name, approval), async (): Promise<Made> => {
    const tool = await toolbox.find(name);
    return tool
      ? tool.call(args, approval)
      : { kind: 'told', reply: failure('TOOL_NOT_FOUND', await toolbox.whyNot(name)) };
  });
  if (effect.kind === 'done') return effect.value;
  return {
    kind: 'told',
    reply: failure(
      'OUTCOME_UNKNOWN',
      'it was cut off while it was under way, so it may have been carried out or not. It is not called again by itself: find out, or ask the person, before you repeat it.',
    ),
  };
}

function whatFor(name: string, approval: unknown): string {
  return approval === undefined ? `the tool "${name}"` : `the approved call of the tool "${name}"`;
}

async function askAndMake(
  waiting: readonly { readonly call: ReadCall; readonly outcome: Asked }[],
  turn: CallsTurn,
): Promise<ReadonlyMap<string, Made>> {
  const { tools, toolbox, approvals } = turn;
  turn.waits += 1;
  if (turn.waits > approvals.maxPausesPerTurn) {
    const reply = failure(
      'hitl_pause_cap',
      `a person was asked ${approvals.maxPausesPerTurn} times in this turn already; nothing was called. Answer with what you know.`,
    );
    return new Map(waiting.map(({ call }) => [call.place, { kind: 'told', reply }]));
  }
  const shown: WaitingCall[] = [];
  const named: NamedTool[] = [];
  for (const { call, outcome } of waiting) {
    const tool = await toolbox.find(call.name);
    if (tool) named.push(tool.named);
    shown.push({
      callId: call.place,
      toolName: call.name,
      server: tool?.server ?? '',
      args: call.args!,
      reason: outcome.reason,
    });
  }
  const { timeoutPolicy, approvalTimeout, reason, message } = approvals.pauseTermsFor(
    named,
    turn.autoApprovals,
  );
  const request = toolCallsRequest(shown, { message, reason });
  const decision = await tools.ask({
    ...{ kind: 'TOOL_CALL', timeoutPolicy, approvalTimeout, request },
    reason: [reason, describeToolCalls(request)].filter(text => text !== undefined).join(' '),
  });
  if (decision.decidedBy === BY_TIMEOUT && decision.verdict === 'APPROVED') turn.autoApprovals += 1;
  const { toolDecisions = {} } = (decision.answer ?? {}) as ToolCallsAnswer;
  const made = await Promise.all(
    waiting.map(async ({ call, outcome }): Promise<[string, Made]> => {
      const { verdict, note } = toolDecisions[call.place] ?? decision;
      if (verdict === 'APPROVED') {
        const approval = { ...outcome.binding, expiresAt: decision.decidedAt + APPROVED_FOR_MS };
        return [call.place, await makeOne(call, approval, turn)];
      }
      const reply = failure(
        'REJECTED',
        `a person said no${note ? `: ${note}` : ''}; do not call it again like this`,
      );
      turn.refused.set(keyOf(call), reply);
      return [call.place, { kind: 'told', reply }];
    }),
  );
  return new Map(made);
}

function replyFor(
  call: ReadCall,
  made: Exclude<Made, Asked>,
  { memory, replies, taskId, tools }: CallsTurn,
): Reply {
  if (made.kind === 'told') return made.reply;
  measureCall(memory, `llm:${taskId}:call`, made.record);
  const { server, tool } = made.record;
  const reply = replyOf(made, { name: call.name, server, tool }, replies, call.place);
  tools.budget.work(reply.text.length / CHARACTERS_A_STEP);
  return reply;
}

/** What keeping an answer costs. */
const CHARACTERS_A_STEP = 10;
