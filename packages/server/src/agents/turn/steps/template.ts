import type { OutputItem } from '@patchbay/contract/operations/conversation';
import { Context, type Template } from 'liquidjs';
import { Fault } from '../../../kernel/errors.ts';
import { dataPathProblem } from '../../language/data-path.ts';
import type { TurnBudget } from '../../step/step.ts';
import type { Sliced } from './in-slices.ts';
import { chargeTo, createEngine, HOLD, MAX_SOURCE } from './liquid.ts';

const liquid = createEngine();

/** Running one part of a template takes as long as so many comparisons. */
const STEPS_A_PART = 5;

/** Is there anything to render? Most texts are plain, and are never parsed. */
export function isTemplate(text: string): boolean {
  return text.includes('{{') || text.includes('{%');
}

/**
 * What is wrong with a template, as a phrase; `undefined` when it can be rendered. `names` are what it may use besides the
 * turn's data.
 */
export function templateProblem(text: string, names: readonly string[] = []): string | undefined {
  if (text.length > MAX_SOURCE) return `it must have at most ${MAX_SOURCE} characters`;
  try {
    const { globals } = liquid.analyzeSync(liquid.parse(text));
    for (const variables of Object.values(globals)) {
      for (const { segments } of variables) {
        const problem = dataPathProblem(segments);
        if (problem && !names.includes(String(segments[0]))) return problem;
      }
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The members of a bubble that may be templates, and those that never are: what it is, and what choosing it means. */
export function splitItem({ type, ...rest }: OutputItem): {
  readonly fixed: OutputItem;
  readonly texts: Readonly<Record<string, unknown>>;
} {
  if (type !== 'quickReply' || rest.expressions === undefined) return { fixed: { type }, texts: rest };
  const { expressions, ...texts } = rest;
  return { fixed: { type, expressions }, texts };
}

/** For what a text is rendered. */
export interface RenderTurn {
  readonly now: number;
  readonly budget: TurnBudget;
  /** Takes each value and gives what stands for it in the text, which then is no part of the answer. */
  readonly hold?: (value: unknown) => string;
}

/** How much of a text that is no part of the answer is written in a step. */
const CHARACTERS_A_STEP = 10;

export interface TemplateCache {
  /**
   * Renders a text; a missing value is empty. Throws the budget's `PlatformError` when it is used up, a `Fault` when a filter
   * fails.
   */
  render(text: string, data: Readonly<Record<string, unknown>>, turn: RenderTurn): Sliced<string>;
}

/** Keeps up to `size` parsed templates, the oldest leaving first. */
export function createTemplateCache(size: number): TemplateCache {
  const parsed = new Map<string, Template[]>();
  const parse = (text: string, budget: TurnBudget): Template[] => {
    const known = parsed.get(text);
    if (known) return known;
    budget.work(text.length);
    const template = liquid.parse(text);
    if (parsed.size >= size) parsed.delete(parsed.keys().next().value!);
    parsed.set(text, template);
    return template;
  };
  return {
    *render(text, data, { now, budget, hold }) {
      let rendered = text;
      if (isTemplate(text)) {
        try {
          const context = new Context(data, liquid.options, { sync: true }, { ...chargeTo(budget), liquid });
          context.setRegister('now', now);
          context.setRegister('turn', `${conversationIdIn(data)} ${now}`);
          if (hold) context.setRegister(HOLD, hold);
          rendered = (yield* run(liquid._render(parse(text, budget), context, {}), budget)) as string;
        } catch (cause) {
          throw (
            budget.exhausted ?? new Fault('TEMPLATE_FAILED', 'A template could not be rendered', { cause })
          );
        }
      }
      if (hold) budget.work(rendered.length / CHARACTERS_A_STEP);
      else budget.write(rendered.length);
      return rendered;
    },
  };
}

function conversationIdIn(data: Readonly<Record<string, unknown>>): unknown {
  return (data.conversationInfo as { readonly conversationId?: unknown } | undefined)?.conversationId;
}

/**
 * Runs what the library has to run: iterators that yield the iterators they wait for. As the library's own way to do so, but
 * each part is charged, and between any two of them the turn may pause.
 */
function* run(root: Iterator<unknown>, budget: TurnBudget): Sliced<unknown> {
  const running = [root];
  let value: unknown;
  let failed = false;
  for (let top = running.at(-1); top !== undefined; top = running.at(-1)) {
    budget.work(STEPS_A_PART);
    if (budget.sliceIsOver) yield;
    try {
      const result = failed ? top.throw!(value) : top.next(value);
      failed = false;
      value = result.value;
      if (result.done) running.pop();
      if (isIterator(value)) {
        running.push(value);
        value = undefined;
      }
    } catch (error) {
      running.pop();
      failed = true;
      value = error;
    }
  }
  if (failed) throw value;
  return value;
}

function isIterator(value: unknown): value is Iterator<unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const { next, throw: rethrow } = value as Partial<Iterator<unknown>>;
  return typeof next === 'function' && typeof rethrow === 'function';
}
