import type { CallOutcome, CallRecord } from '../../../../connections/call/outcome.ts';
import { readArguments } from '../../../model/messages.ts';
import type { AnswerPart, ToolReply } from '../../../model/model.ts';
import type { EffectOutcome, StepTools, TurnMemory } from '../../../step/step.ts';
import { askToSignIn, whyNotMade } from '../ask-to-sign-in.ts';
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
type WaitsForSignIn = Extract<CallOutcome, { kind: 'needs-sign-in' }>;
/** What a call came to whose person has signed in where they have to. */
type Made = Told | OwnOutcome | Gated;
/** What a call came to, as the journal keeps it. */
type Result = Made | WaitsForSignIn;

/** A call as it is to be made. */
interface Attempt {
  readonly call: ReadCall;
  readonly args: ReadCall['args'];
  readonly approval: Approval | undefined;
}

/** What a call came to in the end. */
interface Ended {
  readonly made: Exclude<Made, Gated>;
  /** It was made with these. */
  readonly args: ReadCall['args'];
  readonly remark?: string | undefined;
}

/**
 * Makes the calls of one answer of a model, all at once, each once whatever happens to this node (see `StepTools.effect`). Those that a
 * person must approve are asked for together when the others are done; then the approved ones are made, with exactly the arguments that
 * were shown. Where the person in the conversation has to sign in first, they are asked to, for all calls together. Answers with a reply for
 * each, in their order. Rejects with `Parked` while nobody has decided.
 */
export async function makeCalls(
  calls: readonly ModelCall[],
  round: number,
  turn: CallsTurn,
): Promise<ToolReply[]> {
  const read = calls.map(
    (call, index): ReadCall => ({ ...call, args: readArguments(call.input), place: `${round}.${index}` }),
  );
  const made = await makeAll(
    read.map(call => ({ call, args: call.args, approval: undefined })),
    turn,
  );
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
  const ended = new Map<string, Ended>();
  const approved: (Attempt & Pick<Ended, 'remark'>)[] = [];
  for (const call of calls) {
    const decided = become.get(call.place);
    if (decided?.kind === 'approved') approved.push({ ...decided, call });
    if (decided?.kind === 'refused')
      ended.set(call.place, { made: { kind: 'told', reply: decided.reply }, args: call.args });
  }
  const made = await makeAll(approved, turn);
  // Nobody is asked about what was approved: it is sent, or refused.
  for (const [index, { call, args, remark }] of approved.entries())
    ended.set(call.place, { made: made[index] as Ended['made'], args, remark });
  return ended;
}

/** All at once; those whose person has to sign in first are made again when they have, with the same arguments under the same approval. */
async function makeAll(attempts: readonly Attempt[], turn: CallsTurn): Promise<Made[]> {
  const { asked, tools } = turn;
  const make = ({ call, args, approval }: Attempt) => makeOne(call, args, approval, turn);
  let made = await allEnded(attempts.map(make));
  for (;;) {
    const waiting = made.filter(result => result.kind === 'needs-sign-in');
    if (waiting.length === 0 || !(await askToSignIn(waiting, asked.signIns, tools))) break;
    made = await allEnded(
      made.map(async (result, index) => (result.kind === 'needs-sign-in' ? make(attempts[index]!) : result)),
    );
  }
  return made.map(result => (result.kind === 'needs-sign-in' ? notSignedIn(result, turn) : result));
}

function notSignedIn(waits: WaitsForSignIn, turn: CallsTurn): Told {
  measure(waits.record, turn);
  const { code, message } = whyNotMade(waits, turn.asked.signIns);
  return { ...told(code, message), record: waits.record };
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
    const waits = made.kind === 'needs-approval' || made.kind === 'needs-sign-in';
    if (!waits && made.record) measure(made.record, turn);
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
  if (made.kind === 'needs-approval' || made.kind === 'needs-sign-in' || made.kind === 'own') return made;
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
