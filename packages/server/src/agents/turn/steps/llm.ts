import { type LlmTask, llmDocument } from '../../document/llm.ts';
import type { StepResult, StepTools, StepType, TurnMemory } from '../../step/step.ts';
import { checkTemplates, type PlacedText } from './check-templates.ts';
import { compileForCheck } from './http/request-template.ts';
import { listensTo } from './listens-to.ts';
import { askedBefore } from './llm/approve-calls.ts';
import { compileModel, type TaskModel } from './llm/ask-model.ts';
import { converse } from './llm/converse.ts';
import { createPurse } from './llm/purse.ts';
import { readToolSources } from './llm/tool-sources.ts';
import { loadStepDocument } from './step-config.ts';
import { createTemplateCache } from './template.ts';

const CACHED_TEMPLATES = 100;

/** A task with everything read. */
interface PreparedTask {
  readonly task: LlmTask;
  readonly listens: (actions: readonly string[]) => boolean;
}

/**
 * Has a language model answer, which may call tools meanwhile: the tasks that listen to an action of this turn, in the
 * order of the document. Whatever happens to this node, no call is made twice (see `StepTools.effect`).
 */
export const llmStep: StepType = {
  type: 'llm',
  async compile(step, load, agent = { steps: [step] }) {
    const { tasks } = await loadStepDocument(step, llmDocument, load);
    await checkTemplates('llm document', textsOf(tasks));
    for (const task of tasks) compileModel(task, compileForCheck);
    const prepared = tasks.map((task): PreparedTask => ({ task, listens: listensTo(task.actions) }));
    const sources = await readToolSources(tasks, agent.steps, load);
    const templates = createTemplateCache(CACHED_TEMPLATES);
    const models = new Map<LlmTask, TaskModel>();

    const modelOf = (task: LlmTask, { references }: StepTools): TaskModel => {
      let model = models.get(task);
      if (!model) {
        model = compileModel(task, references.compile);
        models.set(task, model);
      }
      return model;
    };

    async function run(memory: TurnMemory, tools: StepTools): Promise<StepResult> {
      const asked = askedBefore(tools.decisions());
      for (const { task, listens } of prepared) {
        if (!isWanted(task, listens, memory)) continue;
        const approvals = tools.approvals.forTask(task);
        const purse = createPurse(task, memory, tools);
        await converse({
          ...{ model: modelOf(task, tools), memory, tools, templates, approvals, purse, asked },
          toolbox: sources.toolboxFor(task, { memory, tools, approvals, purse }),
        });
      }
      return 'continue';
    }

    return {
      acts: true,
      setsProperties: sources.setsProperties,
      pastTurns: Math.max(1, ...tasks.map(({ conversationHistoryLimit }) => conversationHistoryLimit)),
      run: (memory, tools) =>
        prepared.some(({ task, listens }) => isWanted(task, listens, memory))
          ? run(memory, tools)
          : 'continue',
    };
  },
};

/** A greeting is nothing to answer, unless the task asks for it or has something of its own to say. */
function isWanted(task: LlmTask, listens: PreparedTask['listens'], { actions, input }: TurnMemory): boolean {
  if (!listens(actions)) return false;
  return input !== undefined || task.parameters.prompt !== undefined || !task.actions.includes('*');
}

function* textsOf(tasks: readonly LlmTask[]): Generator<PlacedText> {
  for (const [index, { parameters }] of tasks.entries()) {
    for (const name of ['systemMessage', 'prompt'] as const) {
      const text = parameters[name];
      if (text !== undefined) yield [text, `$.tasks[${index}].parameters.${name}`];
    }
  }
}
