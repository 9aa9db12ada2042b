import type { OutputItem } from '@patchbay/contract/operations/conversation';
import type { QuickReply, StepResult, StepTools, StepType, TurnMemory } from '../../step/step.ts';
import { inSlices, type Sliced } from './in-slices.ts';
import { parseStep } from './step-config.ts';
import { createTemplateCache, splitItem } from './template.ts';
import { turnData } from './turn-data.ts';

/** More texts than the outputs of an agent usually hold. */
const CACHED_TEMPLATES = 500;

/**
 * Renders every text in the output, and the values of quick replies, with the turn's data; what the output step
 * remembered of them follows. Texts without a placeholder, the types of items and the expressions of quick replies
 * stay as they are.
 */
export const templatingStep: StepType = {
  type: 'templating',
  async compile(step) {
    parseStep(step, {});
    const templates = createTemplateCache(CACHED_TEMPLATES);

    function* render(memory: TurnMemory, tools: StepTools): Sliced<StepResult> {
      const data = turnData(memory, tools);
      const turn = { now: tools.clock.now(), budget: tools.budget };
      const renderText: Render = text => templates.render(text, data, turn);
      const rendered = new Map<unknown, unknown>();
      const { settled } = memory;
      const output = [];
      for (const [i, item] of memory.output.entries()) {
        if (settled.output.includes(i)) output.push(item);
        else output.push(keep(rendered, item, yield* renderItem(item, renderText)));
      }
      const quickReplies = [];
      for (const [i, reply] of memory.quickReplies.entries()) {
        if (settled.quickReplies.includes(i)) quickReplies.push(reply);
        else quickReplies.push(keep(rendered, reply, yield* renderReply(reply, renderText)));
      }
      memory.output = output;
      memory.quickReplies = quickReplies;
      // What a person said stands in them, and is no template of another templating step either.
      memory.settled = { ...settled, output: [...output.keys()], quickReplies: [...quickReplies.keys()] };
      for (const datum of memory.remembered) {
        // The template itself is the author's business: readers of the conversation see what was said.
        if (rendered.has(datum.value)) datum.value = rendered.get(datum.value);
        else if (Array.isArray(datum.value) && datum.value.some(part => rendered.has(part))) {
          datum.value = datum.value.map(part => rendered.get(part) ?? part);
        }
      }
      return 'continue';
    }

    return { run: (memory, tools) => inSlices(render(memory, tools), tools.budget) };
  },
};

type Render = (text: string) => Sliced<string>;

function keep<T>(rendered: Map<unknown, unknown>, before: T, after: T): T {
  if (after !== before) rendered.set(before, after);
  return after;
}

function* renderReply(reply: QuickReply, render: Render): Sliced<QuickReply> {
  const value = yield* render(reply.value);
  return value === reply.value ? reply : { ...reply, value };
}

function* renderItem(item: OutputItem, render: Render): Sliced<OutputItem> {
  const { fixed, texts } = splitItem(item);
  const after = yield* renderAll(texts, render);
  return after === texts ? item : { ...fixed, ...after };
}

/** The value itself when nothing in it changed. */
function* renderAll(value: object, render: Render): Sliced<object> {
  let changed: [string, unknown][] | undefined;
  for (const [key, part] of Object.entries(value)) {
    let rendered = part;
    if (typeof part === 'string') rendered = yield* render(part);
    else if (typeof part === 'object' && part !== null) rendered = yield* renderAll(part, render);
    if (rendered === part) continue;
    changed ??= [];
    changed.push([key, rendered]);
  }
  if (changed === undefined) return value;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  return Object.assign(copy, Object.fromEntries(changed));
}
