import type { OutputItem } from '@patchbay/contract/operations/conversation';
import type { QuickReply, StepType } from '../../step/step.ts';
import { parseStep } from './step-config.ts';
import { createTemplateCache } from './template.ts';
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
    return {
      run(memory, tools) {
        const data = turnData(memory, tools);
        const render = (text: string) => templates.render(text, data, tools.clock.now());
        const rendered = new Map<unknown, unknown>();
        memory.output = memory.output.map(item => keep(rendered, item, renderItem(item, render)));
        memory.quickReplies = memory.quickReplies.map(reply =>
          keep(rendered, reply, renderReply(reply, render)),
        );
        for (const datum of memory.remembered) {
          // The template itself is the author's business: readers of the conversation see what was said.
          if (rendered.has(datum.value)) datum.value = rendered.get(datum.value);
          else if (Array.isArray(datum.value) && datum.value.some(part => rendered.has(part))) {
            datum.value = datum.value.map(part => rendered.get(part) ?? part);
          }
        }
        return 'continue';
      },
    };
  },
};

type Render = (text: string) => string;

function keep<T>(rendered: Map<unknown, unknown>, before: T, after: T): T {
  if (after !== before) rendered.set(before, after);
  return after;
}

function renderReply(reply: QuickReply, render: Render): QuickReply {
  const value = render(reply.value);
  return value === reply.value ? reply : { ...reply, value };
}

function renderItem(item: OutputItem, render: Render): OutputItem {
  const { type, ...rest } = item;
  const after = renderAll(rest, render);
  return after === rest ? item : { type, ...(after as typeof rest) };
}

/** The value itself when nothing in it changed. */
function renderAll(value: unknown, render: Render): unknown {
  if (typeof value === 'string') return render(value);
  if (Array.isArray(value)) {
    const after = value.map(part => renderAll(part, render));
    return after.some((part, i) => part !== value[i]) ? after : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const after = entries.map(([key, part]) => [key, renderAll(part, render)] as const);
  return after.some(([, part], i) => part !== entries[i]![1]) ? Object.fromEntries(after) : value;
}
