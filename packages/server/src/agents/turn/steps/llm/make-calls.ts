import type { CallRecord } from '../../../../connections/call/outcome.ts';
import { readArguments } from '../../../model/messages.ts';
import type { AnswerPart, ToolReply } from '../../../model/model.ts';
import type { StepTools, TurnMemory } from '../../../step/step.ts';
import { measureCall } from '../measure-call.ts';
import { type AskingTurn, askAbout, type GatedCall } from './approve-calls.ts';
import type { Approval, Made } from './callable-tool.ts';
import { failure, type Reply, type ReplyTerms, replyOf } from './reply.ts';

export type ModelCall = Extract<AnswerPart, { type: 'tool-call' }>;

/** What the calls of a turn share. */
export interface CallsTurn extends AskingTurn {
  readonly memory: TurnMemory;
  readonly tools: StepTools;
  readonly replies: ReplyTerms;
  /** Of the task, for what is remembered. */
  readonly taskId: string;
}

/** A call with its arguments read, and where it stands in its turn. */
interface ReadCall extends ModelCall {
  readonly args: Readonly<Record<string, unknown>> | undefined;
  readonly place: string;
}

type Told = { readonly kind: 'told'; readonly reply: Reply; readonly record?: CallRecord | undefined };
type Result = Made | Told;
type Asked = GatedCall['outcome'];

/** What a call came to in the end. */
interface Ended {
  readonly made: Exclude<Result, Asked>;
  /** It was made with these. */
  readonly args: ReadCall['args'];
  readonly remark?: string | undefined;
}

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
    (call, index): ReadCall => ({ ...call, args: readArguments(call.input), place: `${round}.${index}` }),
  );
  const made = await Promise.all(read.map(call => makeOne(call, call.args, undefined, turn)));
  // Before others are made: they are paid from what is left.
  measure(made, turn);
  const gated = read.flatMap((call, index): GatedCall[] => {
    const outcome = made[index]!;
    return outcome.kind === 'needs-approval' ? [{ callId: call.place, name: call.name, outcome }] : [];
  });
  const decided = gated.length === 0 ? new Map<string, Ended>() : await makeApproved(read, gated, turn);
  const replies: ToolReply[] = [];
  for (const [index, call] of read.entries()) {
    const { callId, name, args } = call;
    const ended = decided.get(call.place) ?? { made: made[index]! as Ended['made'], args };
    replies.push({ callId, name, ...(await replyFor(call, ended, turn)) });
  }
  return replies;
}

async function makeApproved(
  calls: readonly ReadCall[],
  gated: readonly GatedCall[],
  turn: CallsTurn,
): Promise<ReadonlyMap<string, Ended>> {
  const become = await askAbout(gated, turn);
  const ended = calls.map(async (call): Promise<[string, Ended][]> => {
    const decided = become.get(call.place);
    if (!decided) return [];
    const { args } = call;
    if (decided.kind === 'refused')
      return [[call.place, { made: { kind: 'told', reply: decided.reply }, args }]];
    const made = await makeOne(call, decided.args, decided.approval, turn);
    // Nobody is asked about what was approved: it is sent, or refused.
    return [[call.place, { made: made as Ended['made'], args: decided.args, remark: decided.remark }]];
  });
  const all = (await Promise.all(ended)).flat();
  measure(
    all.map(([, { made }]) => made),
    turn,
  );
  return new Map(all);
}

function measure(results: readonly Result[], { memory, taskId }: CallsTurn): void {
  for (const result of results) {
    if (result.kind === 'needs-approval' || !result.record) continue;
    measureCall(memory, `llm:${taskId}:call`, result.record);
  }
}

async function makeOne(
  { name }: ReadCall,
  args: ReadCall['args'],
  approval: Approval | undefined,
  turn: CallsTurn,
): Promise<Result> {
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
  const effect = await tools.effect(whatFor(name, approval), async (): Promise<Result> => {
    const tool = await toolbox.find(name);
    return tool
      ? tool.call(args, approval)
      : { kind: 'told', reply: failure('TOOL_NOT_FOUND', await toolbox.whyNot(name)) };
  });
  if (effect.kind === 'done') return effect.value;
  return {
    kind: 'told',
    record: (await toolbox.find(name))?.lost,
    reply: failure(
      'OUTCOME_UNKNOWN',
      'it was cut off while it was under way, so it may have been carried out or not. It is not called again by itself: find out, or ask the person, before you repeat it.',
    ),
  };
}

function whatFor(name: string, approval: unknown): string {
  return approval === undefined ? `the tool "${name}"` : `the approved call of the tool "${name}"`;
}

async function replyFor(
  call: ReadCall,
  { made, args, remark }: Ended,
  { replies, tools, toolbox }: CallsTurn,
): Promise<Reply> {
  if (made.kind === 'told') return made.reply;
  const { server, tool } = made.record;
  const outcome = made.kind === 'own' ? await (await toolbox.find(call.name))!.settle(args!, made) : made;
  const reply = replyOf(outcome, { name: call.name, server, tool }, replies, call.place);
  const kept = outcome.kind === 'answered' ? outcome.result.text.length : 0;
  tools.budget.work(reply.text.length / CHARACTERS_A_STEP + kept / KEPT_A_STEP);
  return remark === undefined ? reply : { ...reply, text: `${remark}\n${reply.text}` };
}

/** What it costs that a model reads an answer. */
const CHARACTERS_A_STEP = 10;
/** What it costs that the journal keeps one, however little of it the model is told. */
const KEPT_A_STEP = 100;
