import type { CallRecord } from '../../../../connections/call/outcome.ts';
import { readArguments } from '../../../model/messages.ts';
import type { AnswerPart, ToolReply } from '../../../model/model.ts';
import type { EffectOutcome, StepTools, TurnMemory } from '../../../step/step.ts';
import { measureCall } from '../measure-call.ts';
import { type AskingTurn, askAbout, type GatedCall } from './approve-calls.ts';
import type { Approval, OwnOutcome } from './callable-tool.ts';
import type { Purse } from './purse.ts';
import { failure, type Reply, type ReplyTerms, replyOf } from './reply.ts';

export type ModelCall = Extract<AnswerPart, { type: 'tool-call' }>;

/** What the calls of a turn share. */
export interface CallsTurn extends AskingTurn {
  readonly memory: TurnMemory;
  readonly tools: StepTools;
  readonly replies: ReplyTerms;
  readonly purse: Pick<Purse, 'priced'>;
  /** Of the task, for what is remembered. */
  readonly taskId: string;
}

/** A call with its arguments read, and where it stands in its turn. */
interface ReadCall extends ModelCall {
  readonly args: Readonly<Record<string, unknown>> | undefined;
  readonly place: string;
}

/** What the model is told of a call: no more of a result is kept in the journal of the turn. */
interface Told {
  readonly kind: 'told';
  readonly reply: Reply;
  /** Of what was called. */
  readonly record?: CallRecord;
}

type Gated = GatedCall['outcome'];
/** What a call came to, as the journal keeps it. */
type Result = Told | OwnOutcome | Gated;

/** What a call came to in the end. */
interface Ended {
  readonly made: Exclude<Result, Gated>;
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
  const made = await allEnded(read.map(call => makeOne(call, call.args, undefined, turn)));
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
  return new Map((await allEnded(ended)).flat());
}

/** As `Promise.all`, and also when one of them rejects none is under way any more: what it came to is not lost. */
async function allEnded<T>(calls: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(calls);
  return Promise.all(calls);
}

async function makeOne(
  call: ReadCall,
  args: ReadCall['args'],
  approval: Approval | undefined,
  turn: CallsTurn,
): Promise<Result> {
  if (!args) {
    return told(
      'INVALID_ARGUMENTS',
      'the arguments are no JSON object; nothing was called. Write them again.',
    );
  }
  const { name } = call;
  const { tools, toolbox, purse } = turn;
  const run = () => send(call, args, approval, turn);
  const effect: EffectOutcome<Result> = toolbox.isPure(name)
    ? { kind: 'done', value: await tools.recorded(run) }
    : await tools.effect(whatFor(name, approval), run);
  if (effect.kind === 'done') {
    const made = effect.value;
    if (made.kind !== 'needs-approval' && made.record) measure(made.record, turn);
    return made;
  }
  const tool = await toolbox.find(name);
  if (tool?.lost) measure(purse.priced(tool, tool.lost), turn);
  return told(
    'OUTCOME_UNKNOWN',
    'it was cut off while it was under way, so it may have been carried out or not. It is not called again by itself: find out, or ask the person, before you repeat it.',
  );
}

async function send(
  { name, place }: ReadCall,
  args: NonNullable<ReadCall['args']>,
  approval: Approval | undefined,
  turn: CallsTurn,
): Promise<Result> {
  const { toolbox, replies } = turn;
  const tool = await toolbox.find(name);
  if (!tool) return told('TOOL_NOT_FOUND', await toolbox.whyNot(name));
  const made = await tool.call(args, { approval, onInterrupted: record => measure(record, turn) });
  if (made.kind === 'needs-approval' || made.kind === 'own') return made;
  const { record } = made;
  return { kind: 'told', reply: replyOf(made, { name, ...record }, replies, place), record };
}

function told(code: string, message: string): Told {
  return { kind: 'told', reply: failure(code, message) };
}

/** As soon as it is known: others are paid from what is left, and the turn may be cut off while they are under way. */
function measure(record: CallRecord, { memory, taskId }: CallsTurn): void {
  measureCall(memory, `llm:${taskId}:call`, record);
}

function whatFor(name: string, approval: unknown): string {
  return approval === undefined ? `the tool "${name}"` : `the approved call of the tool "${name}"`;
}

async function replyFor(call: ReadCall, { made, args, remark }: Ended, turn: CallsTurn): Promise<Reply> {
  const reply = made.kind === 'own' ? await settled(call, made, args!, turn) : made.reply;
  turn.tools.budget.work(reply.text.length / CHARACTERS_A_STEP);
  return remark === undefined || !made.record ? reply : { ...reply, text: `${remark}\n${reply.text}` };
}

async function settled(
  { name, place }: ReadCall,
  made: OwnOutcome,
  args: NonNullable<ReadCall['args']>,
  { tools, toolbox, replies }: CallsTurn,
): Promise<Reply> {
  const tool = (await toolbox.find(name))!;
  const outcome = await tool.settle(args, made);
  if (outcome.kind === 'answered') tools.budget.work(outcome.result.text.length / KEPT_A_STEP);
  return replyOf(outcome, { name, ...made.record }, replies, place);
}

/** What it costs that a model reads an answer. */
const CHARACTERS_A_STEP = 10;
/** What it costs that the journal keeps one, however little of it the model is told. */
const KEPT_A_STEP = 100;
