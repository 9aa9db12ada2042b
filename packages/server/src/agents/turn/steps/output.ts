import type { OutputItem } from '@patchbay/contract/operations/conversation';
import { PlatformError } from '../../../kernel/errors.ts';
import { type OutputDocument, outputDocument } from '../../document/output.ts';
import type { CompiledStep, QuickReply, StepType, TurnMemory } from '../../step/step.ts';
import { timesOf } from './counts.ts';
import { pickAlternative } from './pick-alternative.ts';
import { loadStepDocument } from './step-config.ts';
import { templateProblem } from './template.ts';

/**
 * Says what the raised actions are to say, in their order. How often an action was raised in earlier turns is its
 * level: the entries of that level speak, or of the highest one below it; an action without such entries is silent.
 * Each output of an entry is one bubble, and one of its alternatives is said (see `pickAlternative`).
 */
export const outputStep: StepType = {
  type: 'output',
  async compile(step, load) {
    return compileOutput(await loadStepDocument(step, outputDocument, load));
  },
};

/** Throws a `PlatformError` of kind `invalid` when a text is no template, so that no turn has to find out. */
export function compileOutput(document: OutputDocument): CompiledStep {
  checkTemplates(document);
  const levelsOf = groupByAction(document);
  return {
    run(memory, { conversation }) {
      for (const action of memory.actions) {
        const times = timesOf(memory.counters.actions, action);
        const level = levelsOf.get(action)?.find(({ timesOccurred }) => timesOccurred <= times);
        if (level === undefined) continue;
        const seed = `${conversation.conversationId} ${action} ${level.timesOccurred}`;
        say(level, times - level.timesOccurred, seed, action, memory);
      }
      return 'continue';
    },
  };
}

/** Everything one action says at one level. */
interface Level {
  readonly timesOccurred: number;
  readonly outputs: (readonly OutputItem[])[];
  readonly quickReplies: QuickReply[];
}

function say(level: Level, turn: number, seed: string, action: string, memory: TurnMemory): void {
  for (const [i, alternatives] of level.outputs.entries()) {
    const item = pickAlternative(alternatives, turn, `${seed} ${i}`);
    memory.output.push(item);
    memory.remember(`output:${item.type}:${action}:${i}`, item);
  }
  if (level.quickReplies.length === 0) return;
  memory.quickReplies.push(...level.quickReplies);
  memory.remember(`quickReplies:${action}`, level.quickReplies);
}

/** Levels of each action, highest first. */
function groupByAction({ outputSet }: OutputDocument): ReadonlyMap<string, readonly Level[]> {
  const levelsOf = new Map<string, Level[]>();
  for (const { action, timesOccurred, outputs, quickReplies } of outputSet) {
    const levels = levelsOf.get(action) ?? [];
    levelsOf.set(action, levels);
    let level = levels.find(known => known.timesOccurred === timesOccurred);
    if (level === undefined) {
      level = { timesOccurred, outputs: [], quickReplies: [] };
      levels.push(level);
    }
    level.outputs.push(...outputs.map(({ valueAlternatives }) => valueAlternatives));
    level.quickReplies.push(...quickReplies);
  }
  for (const levels of levelsOf.values()) levels.sort((a, b) => b.timesOccurred - a.timesOccurred);
  return levelsOf;
}

/** Every text is checked, wherever it stands; `type` and `expressions` are never rendered. */
function checkTemplates({ outputSet }: OutputDocument): void {
  for (const [i, { outputs, quickReplies }] of outputSet.entries()) {
    for (const [j, { valueAlternatives }] of outputs.entries()) {
      for (const [k, { type: _, ...item }] of valueAlternatives.entries()) {
        checkTexts(item, `$.outputSet[${i}].outputs[${j}].valueAlternatives[${k}]`);
      }
    }
    for (const [j, { value }] of quickReplies.entries()) {
      checkTexts(value, `$.outputSet[${i}].quickReplies[${j}].value`);
    }
  }
}

function checkTexts(value: unknown, path: string): void {
  if (typeof value === 'string') {
    const problem = templateProblem(value);
    if (problem === undefined) return;
    throw new PlatformError(
      'invalid',
      `output document: the template at ${path} is not valid: ${problem}. Text in double braces is a template; {% raw %} keeps it as it is.`,
      { details: { path } },
    );
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    checkTexts(part, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`);
  }
}
