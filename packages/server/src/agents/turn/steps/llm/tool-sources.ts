import { formatDocumentUri, parseDocumentUri } from '@patchbay/contract/ids';
import type { ServerDefinition } from '../../../../connections/server/definition.ts';
import { httpcallsDocument } from '../../../document/httpcalls.ts';
import type { LlmTask } from '../../../document/llm.ts';
import { mcpcallsDocument } from '../../../document/mcpcalls.ts';
import { parseStored } from '../../../document/parse-document.ts';
import { readServerName } from '../../../document/registered-server.ts';
import { PROVIDERS } from '../../../model/providers.ts';
import type { LoadDocument, StepTools, WorkflowStep } from '../../../step/step.ts';
import { type Background, createBackground } from '../http/background.ts';
import { checkCalls } from '../http/check-calls.ts';
import type { HttpcallsDocument } from '../http/http-call.ts';
import { type McpcallsServer, mcpcallsServer } from '../mcp/server.ts';
import { loadStepDocument } from '../step-config.ts';
import { createTemplateCache, type TemplateCache } from '../template.ts';
import { builtInTools, listBuiltInTools } from './builtin-tools.ts';
import { createToolbox, createToolLists, type Toolbox, type ToolLists } from './callable-tool.ts';
import { type HttpTool, type HttpToolsTurn, httpTools, listHttpTools } from './http-tools.ts';
import { createListMcpTools, type ListMcpTools, mcpTools } from './mcp-tools.ts';
import { createWarnings, type Warnings } from './warnings.ts';

const CACHED_TEMPLATES = 500;
/** Of one deployed version on one node. */
const MAX_BACKGROUND = 100;

/** Who makes calls. */
export type ToolsTurn = Pick<HttpToolsTurn, 'memory' | 'tools' | 'approvals' | 'purse'>;

/** Where a task of a deployed agent has its tools from. */
export interface ToolSources {
  /** May calls that a model makes set properties? */
  readonly setsProperties: boolean;
  toolboxFor(task: LlmTask, turn: ToolsTurn): Toolbox;
}

/** What outlives a turn, made when the first one comes. */
interface Kept {
  readonly warn: (sentence: string) => void;
  readonly warnings: Warnings;
  readonly listMcp: ListMcpTools;
  readonly lists: ToolLists;
  readonly http: Map<LlmTask, readonly HttpTool[]>;
  readonly templates: TemplateCache;
  readonly background: Background;
}

/**
 * Reads what the tasks may call: the documents of mcpcalls and httpcalls steps of the agent, and those that tasks name. Rejects with a
 * `PlatformError` of kind `invalid` for a document that could never be used, and as `load` does.
 */
export async function readToolSources(
  tasks: readonly LlmTask[],
  steps: readonly WorkflowStep[],
  load: LoadDocument,
): Promise<ToolSources> {
  const servers = tasks.some(({ enableMcpCallTools }) => enableMcpCallTools)
    ? await mcpcallsServers(steps, load)
    : [];
  const documents = new Map<LlmTask, readonly HttpcallsDocument[]>();
  const loadCalls = loadingOnce(load);
  for (const task of tasks) documents.set(task, await httpcallsOf(task, steps, loadCalls));
  const builtIn = new Map(tasks.map(task => [task, listBuiltInTools(task)]));
  let kept: Kept | undefined;

  function httpFor(task: LlmTask, { references }: StepTools, { http, warn }: Kept): readonly HttpTool[] {
    const known = http.get(task);
    if (known) return known;
    const tools = listHttpTools(documents.get(task)!, references.compile, warn);
    http.set(task, tools);
    return tools;
  }

  return {
    setsProperties: [...documents.values()].flat().some(setsProperties),
    toolboxFor(task, turn) {
      kept ??= newKept(turn.tools);
      const { warnings, listMcp, lists, templates, background } = kept;
      const registered = serversFor(task, servers, turn.tools, warnings);
      // What the author of the agent has written keeps its name, whatever servers call their tools.
      const sources = [
        builtInTools(builtIn.get(task)!, turn),
        httpTools(httpFor(task, turn.tools, kept), { ...turn, templates, background }),
        mcpTools(registered, { ...turn, warnings, list: listMcp }),
      ];
      return createToolbox(sources, { dialect: PROVIDERS[task.type].dialect, lists });
    },
  };
}

function newKept({ mcp, conversation: { agentId } }: StepTools): Kept {
  const warn = (sentence: string) => mcp.warn(sentence, agentId);
  return {
    warn,
    warnings: createWarnings(warn),
    listMcp: createListMcpTools(warn),
    lists: createToolLists(warn),
    http: new Map(),
    templates: createTemplateCache(CACHED_TEMPLATES),
    background: createBackground(MAX_BACKGROUND),
  };
}

function setsProperties({ httpCalls }: HttpcallsDocument): boolean {
  return httpCalls.some(({ preRequest, postResponse }) =>
    [preRequest, postResponse].some(one => one !== undefined && one.propertyInstructions.length > 0),
  );
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
function serversFor(
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

/** Reads an httpcalls document, and checks it. */
type LoadCalls = (uri: string) => Promise<HttpcallsDocument>;

function loadingOnce(load: LoadDocument): LoadCalls {
  const loaded = new Map<string, Promise<HttpcallsDocument>>();
  const read: LoadCalls = async uri => {
    const document = parseStored(httpcallsDocument, await load(parseDocumentUri(uri)!));
    await checkCalls(document);
    return document;
  };
  return uri => {
    const reading = loaded.get(uri) ?? read(uri);
    loaded.set(uri, reading);
    return reading;
  };
}

/** Those of the agent's steps, then those the task names, each once (platform.md 3.7). */
async function httpcallsOf(
  { enableHttpCallTools, tools }: LlmTask,
  steps: readonly WorkflowStep[],
  load: LoadCalls,
): Promise<HttpcallsDocument[]> {
  if (!enableHttpCallTools) return [];
  const ofSteps = steps.flatMap(({ type, config }) => {
    const ref = type === 'httpcalls' ? parseDocumentUri(String(config?.uri)) : undefined;
    return ref ? [formatDocumentUri(ref)] : [];
  });
  const documents: HttpcallsDocument[] = [];
  for (const uri of new Set([...ofSteps, ...tools])) documents.push(await load(uri));
  return documents;
}
