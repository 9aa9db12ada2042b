import type { OutputItem } from '@patchbay/contract/operations/conversation';
import { PlatformError } from '../../../kernel/errors.ts';
import {
  MAX_BUBBLES,
  MAX_QUICK_REPLIES,
  type OutputDocument,
  outputDocument,
} from '../../document/output.ts';
import type { CompiledStep, QuickReply, StepType, TurnBudget, TurnMemory } from '../../step/step.ts';
import { checkTemplates, type PlacedText } from './check-templates.ts';
import { timesOf } from './counts.ts';
import { pickAlternative } from './pick-alternative.ts';
import { loadStepDocument } from './step-config.ts';
import { splitItem } from './template.ts';

/**
 * Says what the raised actions are to say, in their order. How often an action was raised in earlier turns is its
 * level: the entries of that level speak, or of the highest one below it; an action without such entries is silent.
 * Each output of an entry is one bubble, and one of its alternatives is said (see `pickAlternative`).
 */
export const outputStep: StepType = {
  type: 'output',
  async compile(step, load) {
    const document = await loadStepDocument(step, outputDocument, load);
    await checkTemplates('output document', textsOf(document.outputSet));
    return compileOutput(document);
  },
};

export function compileOutput(document: OutputDocument): CompiledStep {
  const levelsOf = groupByAction(document);
  return {
    run(memory, { conversation, budget }) {
      if (hasInjected(memory)) inject(memory, budget);
      for (const action of memory.actions) {
        const times = timesOf(memory.counters.actions, action);
        const level = levelsOf.get(action)?.find(({ timesOccurred }) => timesOccurred <= times);
        if (level === undefined) continue;
        const seed = `${conversation.conversationId} ${action} ${level.timesOccurred}`;
        refuseTooMuch(memory, level.outputs.length, level.quickReplies.length);
        say(level, times - level.timesOccurred, seed, action, memory);
      }
      return 'continue';
    },
  };
}

function hasInjected({ injected }: TurnMemory): boolean {
  return injected.output.length + injected.quickReplies.length > 0;
}

/** What the caller has the agent say comes first, once, however many output steps there are. */
function inject(memory: TurnMemory, budget: TurnBudget): void {
  const { injected, settled, output, quickReplies } = memory;
  if (settled.injected) return;
  refuseTooMuch(memory, injected.output.length, injected.quickReplies.length);
  budget.write(JSON.stringify(injected).length);
  // No templates: they would read the agent's data.
  memory.settled = {
    injected: true,
    output: [...settled.output, ...placesAfter(output, injected.output)],
    quickReplies: [...settled.quickReplies, ...placesAfter(quickReplies, injected.quickReplies)],
  };
  output.push(...injected.output);
  quickReplies.push(...injected.quickReplies);
}

function placesAfter(list: readonly unknown[], added: readonly unknown[]): number[] {
  return added.map((_, i) => list.length + i);
}

/** An entry alone is within the limits; several that speak in one turn may not be. */
function refuseTooMuch({ output, quickReplies }: TurnMemory, bubbles: number, replies: number): void {
  if (output.length + bubbles > MAX_BUBBLES) {
    throw new PlatformError(
      'internal',
      `one turn may say ${MAX_BUBBLES} bubbles; let fewer actions speak at once.`,
    );
  }
  if (quickReplies.length + replies > MAX_QUICK_REPLIES) {
    throw new PlatformError(
      'internal',
      `one turn may offer ${MAX_QUICK_REPLIES} quick replies; let fewer actions speak at once.`,
    );
  }
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

/** The texts of a document that may be templates, wherever they stand, but for what `splitItem` leaves out. */
function* textsOf(outputSet: OutputDocument['outputSet']): Generator<PlacedText> {
  for (const [i, { outputs, quickReplies }] of outputSet.entries()) {
    for (const [j, { valueAlternatives }] of outputs.entries()) {
      for (const [k, item] of valueAlternatives.entries()) {
        yield* textsIn(splitItem(item).texts, `$.outputSet[${i}].outputs[${j}].valueAlternatives[${k}]`);
      }
    }
    for (const [j, { value }] of quickReplies.entries()) {
      yield [value, `$.outputSet[${i}].quickReplies[${j}].value`];
    }
  }
}

function* textsIn(value: unknown, path: string): Generator<PlacedText> {
  if (typeof value === 'string') yield [value, path];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    yield* textsIn(part, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`);
  }
}
