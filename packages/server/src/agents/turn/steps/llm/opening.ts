import { randomBase32 } from '../../../../kernel/ids.ts';
import type { LlmTask } from '../../../document/llm.ts';
import { estimateTokens } from '../../../model/messages.ts';
import type { ModelMessage } from '../../../model/model.ts';
import type { PastStep, StepTools, TurnMemory } from '../../../step/step.ts';
import { inSlices } from '../in-slices.ts';
import type { TemplateCache } from '../template.ts';
import { turnData } from '../turn-data.ts';
import { objectInstruction } from './answer-object.ts';

/** What a model is told before it says anything: the same in every run of a turn. */
export interface Opening {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  /** See `ReplyTerms`. */
  readonly mark: string;
}

/** System message and prompt with the turn's data in them, behind the turns before. */
export async function openingOf(
  task: LlmTask,
  memory: TurnMemory,
  tools: StepTools,
  templates: TemplateCache,
): Promise<Opening> {
  const { parameters, conversationHistoryLimit } = task;
  const data = turnData(memory, tools);
  const fill = async (text: string): Promise<string> => {
    // Held back, so that what is written is charged as work and not as a part of the answer.
    const turn = { now: tools.clock.now(), budget: tools.budget, hold: String };
    return inSlices(templates.render(text, data, turn), tools.budget);
  };
  const said = parameters.prompt === undefined ? (memory.input ?? '') : await fill(parameters.prompt);
  const system = (await fill(parameters.systemMessage)) + objectInstruction(task);
  const now: ModelMessage = { role: 'user', text: said };
  const past = memory.past.slice(0, conversationHistoryLimit).map(messagesOf);
  const before = latestWithin(past, tokensLeft(task, [{ role: 'user', text: system }, now]));
  return { system, messages: [...before.toReversed().flat(), now], mark: randomBase32(26) };
}

/** What was said in a turn. What tools were asked then is not told again. */
function messagesOf({ input, output }: PastStep): readonly ModelMessage[] {
  const said = output
    .flatMap(({ text }) => (typeof text === 'string' && text !== '' ? [text] : []))
    .join('\n');
  return [
    ...(input === undefined || input === '' ? [] : [{ role: 'user', text: input } as const]),
    ...(said === '' ? [] : [{ role: 'assistant', parts: [{ type: 'text', text: said }] } as const]),
  ];
}

function tokensLeft({ maxContextTokens }: LlmTask, taken: readonly ModelMessage[]): number {
  return maxContextTokens < 0 ? Number.POSITIVE_INFINITY : maxContextTokens - estimateTokens(taken);
}

/** Of turns, the latest first, those that there is room for: none behind one that there is none for. */
function latestWithin(
  turns: readonly (readonly ModelMessage[])[],
  maxTokens: number,
): readonly (readonly ModelMessage[])[] {
  let left = maxTokens;
  const over = turns.findIndex(turn => {
    left -= estimateTokens(turn);
    return left < 0;
  });
  return over < 0 ? turns : turns.slice(0, over);
}
