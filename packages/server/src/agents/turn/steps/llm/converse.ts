import type { OutputItem } from '@patchbay/contract/operations/conversation';
import { PlatformError } from '../../../../kernel/errors.ts';
import type { ToolApprovals } from '../../../approval/tool-approvals.ts';
import type { LlmTask } from '../../../document/llm.ts';
import { MAX_QUICK_REPLIES } from '../../../document/output.ts';
import type { AnswerPart, ModelMessage, ModelOutcome } from '../../../model/model.ts';
import type { StepTools, TurnMemory } from '../../../step/step.ts';
import { bubblesIn } from '../../bubbles.ts';
import { spend } from '../measure-call.ts';
import type { TemplateCache } from '../template.ts';
import { readAnswerObject } from './answer-object.ts';
import type { AskedBefore } from './approve-calls.ts';
import { askModel, modelName, type TaskModel } from './ask-model.ts';
import type { Toolbox } from './callable-tool.ts';
import { keepWithin } from './keep-within.ts';
import { type CallsTurn, type ModelCall, makeCalls } from './make-calls.ts';
import { openingOf } from './opening.ts';
import type { Purse } from './purse.ts';

/** What a task of a turn is made of. */
export interface TaskTurn {
  readonly model: TaskModel;
  readonly memory: TurnMemory;
  readonly tools: StepTools;
  readonly templates: TemplateCache;
  readonly toolbox: Toolbox;
  readonly approvals: ToolApprovals;
  readonly purse: Purse;
  /** Shared by the tasks of the step. */
  readonly asked: AskedBefore;
}

/**
 * Has a model answer: it is asked, the tools it calls are called, and it is asked again with what they said, until it calls none or has
 * called them as often as it may. What was answered is in the journal of the turn, so a turn that goes on after a wait or a
 * crash comes back to where it was without calling anything twice, and without asking or paying for an answer again that was written down: each
 * is with the calls that follow it. Each answer's text is a bubble.
 * Throws a `PlatformError` when the model cannot be asked.
 */
export async function converse(turn: TaskTurn): Promise<void> {
  const { model, memory, tools, templates, toolbox, approvals, asked } = turn;
  const { task } = model;
  const opening = await tools.recorded(() => openingOf(task, memory, tools, templates));
  const calls: CallsTurn = {
    ...{ memory, tools, toolbox, taskId: task.id, approvals, purse: turn.purse },
    replies: { limits: task.toolResponseLimits, mark: opening.mark },
    asked,
  };
  const exchanges: ModelMessage[] = [];
  refuseOverspent(turn.purse);
  for (let round = 0; ; round += 1) {
    // What was called may have spent the rest: then it answers with what is known.
    const mayCall = round < task.maxToolIterations && !turn.purse.isEmpty;
    const answer = await ask(turn, [...opening.messages, ...exchanges], opening.system, mayCall);
    say(answer.parts, task, memory, tools);
    const wanted = answer.parts.filter((part): part is ModelCall => part.type === 'tool-call');
    if (wanted.length === 0 || !mayCall) return end(answer, task, memory, tools);
    const results = await makeCalls(wanted, round, calls);
    exchanges.push({ role: 'assistant', parts: answer.parts }, { role: 'tool', results });
    keepWithin(exchanges, task.maxToolContextTokens);
  }
}

type Answered = Extract<ModelOutcome, { kind: 'answered' }>;

async function ask(
  { model, memory, tools, toolbox }: TaskTurn,
  messages: readonly ModelMessage[],
  system: string,
  mayCall: boolean,
): Promise<Answered> {
  const { task } = model;
  const index = bubblesIn(memory.output).length;
  const outcome = await tools.recorded(async () => {
    const offered = await toolbox.offered();
    const { addToOutput, convertToObject } = task.parameters;
    const isHeard = addToOutput && !convertToObject;
    const onText = isHeard ? withoutBlanks(delta => tools.say(delta, index)) : () => undefined;
    return askModel(model, { system, messages, offered, mayCall, onText }, tools);
  });
  measure(task, memory, outcome);
  if (outcome.kind === 'answered') return outcome;
  const { message, told = message } = outcome;
  throw new PlatformError('unavailable', `${told.replace(/\.$/, '')}.`);
}

/** Blanks alone are no bubble, so those that begin an answer are told with what follows them. */
function withoutBlanks(tell: (text: string) => void): (delta: string) => void {
  let blanks: string | undefined = '';
  return delta => {
    const text = (blanks ?? '') + delta;
    blanks = blanks !== undefined && text.trim() === '' ? text : undefined;
    if (blanks === undefined) tell(text);
  };
}

/** What a request cost stays on its step, and what all of them cost on the conversation. */
function measure(task: LlmTask, memory: TurnMemory, outcome: ModelOutcome): void {
  const { usage, attempts, durationMs } = outcome;
  const { inputPricePer1M = 0, outputPricePer1M = 0 } = task;
  const isPriced = task.inputPricePer1M !== undefined || task.outputPricePer1M !== undefined;
  const costUsd =
    usage && isPriced
      ? (usage.inputTokens * inputPricePer1M + usage.outputTokens * outputPricePer1M) / 1_000_000
      : undefined;
  memory.remember(`llm:${task.id}:request`, {
    ...{ provider: task.type, model: modelName(task), attempts, durationMs, usage },
    ...(outcome.kind === 'answered'
      ? { outcome: outcome.finish }
      : { outcome: outcome.code, reason: outcome.message }),
    ...(costUsd !== undefined && { costUsd }),
  });
  spend(memory, costUsd);
}

function refuseOverspent(purse: Purse): void {
  if (!purse.isEmpty) return;
  const { spentUsd, limitUsd } = purse.budget()!;
  throw new PlatformError(
    'rate_limited',
    `the conversation has spent ${spentUsd} of the ${limitUsd} US dollars it may spend; start another one, or raise the budget.`,
  );
}

/** A model's words are no template, and never become one: they may repeat what a tool said. */
function say(parts: readonly AnswerPart[], task: LlmTask, memory: TurnMemory, tools: StepTools): void {
  const text = parts.map(part => (part.type === 'text' ? part.text : '')).join('');
  const { addToOutput, convertToObject } = task.parameters;
  if (text.trim() === '' || !(addToOutput || convertToObject)) return;
  tools.budget.write(text.length);
  const object = convertToObject ? readAnswerObject(text) : undefined;
  if (object) memory.remember(`llm:${task.id}:object`, object.value);
  if (!addToOutput) return;
  const said = object?.text ?? text;
  if (convertToObject) tools.say(said, bubblesIn(memory.output).length);
  sayBubble(said, task, memory);
  if (object) offer(object.quickReplies, task, memory);
}

/** What a model offers is no template either. */
function offer(values: readonly string[], { id }: LlmTask, memory: TurnMemory): void {
  const { settled, quickReplies } = memory;
  const offered = values
    .slice(0, Math.max(0, MAX_QUICK_REPLIES - quickReplies.length))
    .map(value => ({ value }));
  if (offered.length === 0) return;
  const places = offered.map((_, index) => quickReplies.length + index);
  memory.settled = { ...settled, quickReplies: [...settled.quickReplies, ...places] };
  quickReplies.push(...offered);
  memory.remember(`quickReplies:${id}`, offered);
}

function sayBubble(text: string, { id }: LlmTask, memory: TurnMemory): void {
  const item: OutputItem = { type: 'text', text };
  const { settled, output } = memory;
  memory.settled = { ...settled, output: [...settled.output, output.length] };
  output.push(item);
  memory.remember(`output:text:${id}`, item);
}

const SAYS_WHY = {
  length: 'The answer is cut: it reached the most that the model may write.',
  'content-filter': 'The model declined to answer this.',
} as const;

/** An answer that is cut, refused or empty says so: silence would look like a fault. */
function end({ finish, parts }: Answered, task: LlmTask, memory: TurnMemory, tools: StepTools): void {
  if (!task.parameters.addToOutput) return;
  const saidSomething = parts.some(part => part.type === 'text' && part.text.trim() !== '');
  const usual = saidSomething ? undefined : 'The model gave no answer.';
  const why = finish === 'length' || finish === 'content-filter' ? SAYS_WHY[finish] : usual;
  if (why === undefined) return;
  tools.say(why, bubblesIn(memory.output).length);
  sayBubble(why, task, memory);
}
