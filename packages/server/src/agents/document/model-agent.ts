import { type DocumentRef, type DocumentType, formatDocumentUri } from '@patchbay/contract/ids';
import { PlatformError } from '../../kernel/errors.ts';
import { answerSchema } from './answer-schema.ts';
import { BUILT_IN_TOOLS } from './built-in-tools.ts';
import { DOCUMENT_SCHEMAS } from './documents.ts';
import type { ChosenModel } from './model-choice.ts';
import { parseDocument } from './parse-document.ts';

/** What an agent with a language model is made from. */
export interface ModelAgentParts extends ChosenModel {
  readonly agentId: string;
  readonly systemPrompt: string;
  /** A reference, never the key itself. */
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** What it says when a conversation begins. */
  readonly introMessage?: string | undefined;
  /** Addresses, or `patchbay:servers/<name>`. */
  readonly mcpServerUrls: readonly string[];
  readonly enableBuiltInTools: boolean;
  /** Empty is all of them. */
  readonly builtInTools: readonly string[];
  readonly enableQuickReplies: boolean;
  readonly enableSentimentAnalysis: boolean;
}

/** A document that is to be made, in its first version. */
export interface NewDocument extends DocumentRef {
  readonly body: unknown;
}

/** The action of every message, which the model answers. */
const ACTION = 'send_message';
const HISTORY_TURNS = 10;
const REQUEST_MS = 60_000;
const MCP_SERVER_MS = 30_000;
const REGISTERED = 'patchbay:';

/**
 * The documents of an agent that has a model answer whatever is said (platform.md 2.6): what they name comes before them, the agent last. Throws a
 * `PlatformError` of kind `invalid` that names the document and its field, or the entry of `mcpServerUrls`.
 */
export function modelAgentDocuments(parts: ModelAgentParts): NewDocument[] {
  const { agentId, introMessage, mcpServerUrls } = parts;
  refuseUnknownTools(parts.builtInTools);
  const made: NewDocument[] = [];
  const make = (type: DocumentType, body: unknown, id = agentId) => {
    const document = { type, id, version: 1, body: parseDocument(DOCUMENT_SCHEMAS[type], body) };
    made.push(document);
    return { type, config: { uri: formatDocumentUri(document) } };
  };
  const workflowSteps = [
    { type: 'parser' },
    make('rules', rulesBody()),
    ...mcpServerUrls.map((url, index) =>
      about(`mcpServerUrls, entry ${index + 1}`, () =>
        make('mcpcalls', mcpcallsBody(url), `${agentId}-${index + 1}`),
      ),
    ),
    make('llm', { tasks: [taskOf(parts)] }),
    ...(introMessage === undefined ? [] : [make('output', outputBody(introMessage))]),
    { type: 'templating' },
  ];
  const workflow = make('workflow', { workflowSteps });
  make('agent', { workflows: [workflow.config.uri] });
  return made;
}

/** Whatever is said, also what the parser finds no word in. */
function rulesBody() {
  const anything = [
    { type: 'inputmatcher', configs: { expressions: '*', occurrence: 'currentStep' } },
    { type: 'dynamicvaluematcher', configs: { valuePath: 'memory.current.input' } },
  ];
  const conditions = [{ type: 'connector', configs: { operator: 'OR' }, conditions: anything }];
  const rules = [{ name: 'Everything', actions: [ACTION], conditions }];
  return { behaviorGroups: [{ name: 'Conversation', rules }] };
}

/** Nothing but the address: whatever else a registered server has is its own. */
function mcpcallsBody(mcpServerUrl: string) {
  if (mcpServerUrl.startsWith(REGISTERED)) return { mcpServerUrl };
  return { mcpServerUrl, transport: 'http', timeoutMs: MCP_SERVER_MS };
}

function taskOf(parts: ModelAgentParts) {
  const { provider, model, apiKey, baseUrl, systemPrompt } = parts;
  const extras = { quickReplies: parts.enableQuickReplies, sentiment: parts.enableSentimentAnalysis };
  return {
    id: 'main',
    type: provider,
    actions: [ACTION],
    parameters: {
      model,
      ...(apiKey !== undefined && { apiKey }),
      ...(baseUrl !== undefined && { baseUrl }),
      systemMessage: systemPrompt,
      timeout: REQUEST_MS,
      addToOutput: true,
      ...((extras.quickReplies || extras.sentiment) && {
        convertToObject: true,
        responseSchema: answerSchema(extras),
      }),
    },
    enableBuiltInTools: parts.enableBuiltInTools,
    builtInToolsWhitelist: parts.builtInTools,
    conversationHistoryLimit: HISTORY_TURNS,
  };
}

function outputBody(text: string) {
  const outputs = [{ valueAlternatives: [{ type: 'text', text }] }];
  return { outputSet: [{ action: 'CONVERSATION_START', outputs }] };
}

function refuseUnknownTools(names: readonly string[]): void {
  const unknown = names.find(name => !(BUILT_IN_TOOLS as readonly string[]).includes(name));
  if (unknown === undefined) return;
  const shown = JSON.stringify(unknown.slice(0, 100));
  throw new PlatformError(
    'invalid',
    `builtInToolsWhitelist: there is no built-in tool ${shown}; there are ${BUILT_IN_TOOLS.join(', ')}.`,
  );
}

/** What it throws says what it is about. */
function about<T>(what: string, make: () => T): T {
  try {
    return make();
  } catch (thrown) {
    if (!(thrown instanceof PlatformError)) throw thrown;
    const { kind, message, details } = thrown;
    throw new PlatformError(kind, `${what}: ${message}`, { cause: thrown, ...(details && { details }) });
  }
}
