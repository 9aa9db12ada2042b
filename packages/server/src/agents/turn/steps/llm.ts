import type { ServerDefinition } from '../../../connections/server/definition.ts';
import { compileText } from '../../../secrets/reference-text.ts';
import { type LlmTask, llmDocument } from '../../document/llm.ts';
import { mcpcallsDocument } from '../../document/mcpcalls.ts';
import { readServerName } from '../../document/registered-server.ts';
import { PROVIDERS } from '../../model/providers.ts';
import type {
  LoadDocument,
  StepResult,
  StepTools,
  StepType,
  TurnMemory,
  WorkflowStep,
} from '../../step/step.ts';
import { checkTemplates, type PlacedText } from './check-templates.ts';
import { listensTo } from './listens-to.ts';
import { compileModel, type TaskModel } from './llm/ask-model.ts';
import { createToolbox, createToolLists, type ToolLists } from './llm/callable-tool.ts';
import { converse } from './llm/converse.ts';
import { createListMcpTools, type ListMcpTools, mcpTools } from './llm/mcp-tools.ts';
import { createWarnings, type Warnings } from './llm/warnings.ts';
import { type McpcallsServer, mcpcallsServer } from './mcp/server.ts';
import { loadStepDocument } from './step-config.ts';
import { createTemplateCache } from './template.ts';

const CACHED_TEMPLATES = 100;

/** A task with everything read. */
interface PreparedTask {
  readonly task: LlmTask;
  readonly listens: (actions: readonly string[]) => boolean;
}

/**
 * Has a language model answer, which may call the tools of MCP servers meanwhile: the tasks that listen to an action of this turn, in the
 * order of the document. Whatever happens to this node, no call is made twice (see `StepTools.effect`).
 */
export const llmStep: StepType = {
  type: 'llm',
  async compile(step, load, agent = { steps: [step] }) {
    const { tasks } = await loadStepDocument(step, llmDocument, load);
    await checkTemplates('llm document', textsOf(tasks));
    for (const task of tasks) compileModel(task, text => compileText(text, () => true));
    const prepared = tasks.map((task): PreparedTask => ({ task, listens: listensTo(task.actions) }));
    const fromDocuments = tasks.some(({ enableMcpCallTools }) => enableMcpCallTools)
      ? await mcpcallsServers(agent.steps, load)
      : [];
    const templates = createTemplateCache(CACHED_TEMPLATES);
    const models = new Map<LlmTask, TaskModel>();
    let kept: Kept | undefined;

    const modelOf = (task: LlmTask, { references }: StepTools): TaskModel => {
      let model = models.get(task);
      if (!model) {
        model = compileModel(task, references.compile);
        models.set(task, model);
      }
      return model;
    };

    async function run(memory: TurnMemory, tools: StepTools): Promise<StepResult> {
      for (const { task, listens } of prepared) {
        if (!isWanted(task, listens, memory)) continue;
        kept ??= newKept(tools);
        const { warnings, listMcp: list, lists } = kept;
        const servers = serversOf(task, fromDocuments, tools, warnings);
        const approvals = tools.approvals.forTask(task);
        await converse({
          ...{ model: modelOf(task, tools), memory, tools, templates, approvals },
          toolbox: createToolbox([mcpTools(servers, { memory, tools, approvals, list, warnings })], {
            dialect: PROVIDERS[task.type].dialect,
            lists,
          }),
        });
      }
      return 'continue';
    }

    return {
      acts: true,
      pastTurns: Math.max(1, ...tasks.map(({ conversationHistoryLimit }) => conversationHistoryLimit)),
      run: (memory, tools) =>
        prepared.some(({ task, listens }) => isWanted(task, listens, memory))
          ? run(memory, tools)
          : 'continue',
    };
  },
};

/** What outlives a turn. */
interface Kept {
  readonly warnings: Warnings;
  readonly listMcp: ListMcpTools;
  readonly lists: ToolLists;
}

function newKept({ mcp, conversation: { agentId } }: StepTools): Kept {
  const warn = (sentence: string) => mcp.warn(sentence, agentId);
  return {
    warnings: createWarnings(warn),
    listMcp: createListMcpTools(warn),
    lists: createToolLists(warn),
  };
}

/** A greeting is nothing to answer, unless the task asks for it or has something of its own to say. */
function isWanted(task: LlmTask, listens: PreparedTask['listens'], { actions, input }: TurnMemory): boolean {
  if (!listens(actions)) return false;
  return input !== undefined || task.parameters.prompt !== undefined || !task.actions.includes('*');
}

/** Every mcpcalls step of the agent offers its server (E-96). */
async function mcpcallsServers(
  steps: readonly WorkflowStep[],
  load: LoadDocument,
): Promise<McpcallsServer[]> {
  const servers: McpcallsServer[] = [];
  for (const step of steps) {
    if (step.type === 'mcpcalls')
      servers.push(mcpcallsServer(await loadStepDocument(step, mcpcallsDocument, load)));
  }
  return servers;
}

/** Those of the documents first, then those the task names; one that is not there is told and left out (E-102). */
function serversOf(
  { mcpServers, enableMcpCallTools }: LlmTask,
  fromDocuments: readonly McpcallsServer[],
  tools: StepTools,
  warnings: Warnings,
): readonly ServerDefinition[] {
  const servers: ServerDefinition[] = [];
  for (const serverFor of enableMcpCallTools ? fromDocuments : []) {
    const server = serverFor(tools);
    if ('ref' in server) servers.push(server);
  }
  for (const name of mcpServers) {
    const server = tools.mcp.registered(readServerName(name)!);
    if (server) servers.push(server);
    const says = `The model is to have tools of the server ${name}, which is not registered`;
    warnings.about(`registered ${name}`, server ? undefined : says);
  }
  return servers;
}

function* textsOf(tasks: readonly LlmTask[]): Generator<PlacedText> {
  for (const [index, { parameters }] of tasks.entries()) {
    for (const name of ['systemMessage', 'prompt'] as const) {
      const text = parameters[name];
      if (text !== undefined) yield [text, `$.tasks[${index}].parameters.${name}`];
    }
  }
}
