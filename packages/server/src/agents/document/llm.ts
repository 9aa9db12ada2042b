import { z } from 'zod';
import { approvalFields } from '../approval/approval-fields.ts';
import { PROVIDERS, readProvider } from '../model/providers.ts';
import { BUILT_IN_TOOLS } from './built-in-tools.ts';
import type { DocumentSchema } from './document-type.ts';
import { listOf, nameField, tooMany } from './fields.ts';
import { sayWhere, sayWhich } from './model-choice.ts';
import { listenedActions } from './property.ts';
import { referenceTo } from './references.ts';
import { readServerName } from './registered-server.ts';

const MAX_TASKS = 20;
const MAX_PROMPT = 100_000;
const MAX_TEXT = 10_000;
const MAX_SCHEMA = 20_000;
const MAX_SERVERS = 100;
const MAX_CALLS = 20;
const MAX_TURNS = 100;
const MINUTE_MS = 60_000;

/** Parameters are texts in EDDI; numbers and booleans are taken as well, and kept as what they mean. */
const number = (schema: z.ZodNumber) =>
  z.preprocess(value => (isNumeric(value) ? Number(value) : value), schema);
const boolean = z.preprocess(
  value => (value === 'true' ? true : value === 'false' ? false : value),
  z.boolean(),
);

function isNumeric(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value));
}

const text = (max: number) => z.string().max(max, tooMany(max, 'characters'));

const schemaObject = z
  .record(z.string(), z.json())
  .refine(schema => JSON.stringify(schema).length <= MAX_SCHEMA, tooMany(MAX_SCHEMA, 'characters as JSON'));

const parameters = z.strictObject({
  /** What the model is asked for, in the provider's words; the provider's usual one when left out. */
  model: text(200).optional(),
  /** A reference to a secret, `${vault:name}`. */
  apiKey: text(MAX_TEXT).optional(),
  /** Where the provider is, when not at its own address. */
  baseUrl: text(2_000).optional(),
  /** Who the model is and what it is to do: a template. */
  systemMessage: text(MAX_PROMPT).default(''),
  /** What it is told instead of what the person said: a template. */
  prompt: text(MAX_PROMPT).optional(),
  temperature: number(z.number().min(0).max(2)).optional(),
  /** Of one answer. */
  maxTokens: number(z.int().min(1).max(1_000_000)).optional(),
  /** Milliseconds one request may take. */
  timeout: number(
    z
      .int()
      .min(1_000)
      .max(60 * MINUTE_MS),
  ).default(10 * MINUTE_MS),
  /** Is what the model says said to the person? */
  addToOutput: boolean.default(true),
  /** The answer is a JSON object: its `htmlResponseText` is said, its `quickReplies` are offered. Nothing is streamed then. */
  convertToObject: boolean.default(false),
  /** What the object holds: a JSON Schema, also as text, or words about it. */
  responseSchema: z.union([text(MAX_SCHEMA), schemaObject]).optional(),
});

/** Of a task; `model` has other names, too. */
export const PARAMETER_NAMES: ReadonlySet<string> = new Set(Object.keys(parameters.shape));

/** Every provider has its own name for the model's parameter, and any of them is taken (platform.md 3.7). */
const MODEL_NAMES = new Set(Object.values(PROVIDERS).flatMap(({ modelParameters }) => modelParameters));

const parametersField = z.preprocess(written => {
  if (typeof written !== 'object' || written === null || Array.isArray(written)) return written;
  const named = Object.entries(written).map(([name, value]) =>
    (MODEL_NAMES as ReadonlySet<string>).has(name) ? (['model', value] as const) : ([name, value] as const),
  );
  return Object.fromEntries(named);
}, parameters);

const provider = z.string().transform((name, context) => {
  const read = readProvider(name);
  if (read.ok) return read.value;
  context.addIssue(read.refusal.message);
  return z.NEVER;
});

/** A request to the model that failed in a way that may pass is made again; the calls it has made never are (C26). */
const retry = z.strictObject({
  /** The first one included. */
  maxAttempts: z.int().min(1).max(10).default(3),
  backoffDelayMs: z.int().min(0).max(MINUTE_MS).default(1_000),
  backoffMultiplier: z.number().min(1).max(10).default(2),
  maxBackoffDelayMs: z.int().min(0).max(MINUTE_MS).default(10_000),
});

const serverName = z.string().transform((name, context) => {
  if (readServerName(name.trim())) return name.trim();
  context.addIssue('must be the name of a registered server, or instance/name');
  return z.NEVER;
});

const price = z.number().min(0).max(1_000_000);

const toolResponseLimits = z.strictObject({
  /** Of a result. */
  defaultMaxChars: z.int().min(100).max(1_000_000).default(50_000),
  perToolLimits: z.record(nameField, z.int().min(100).max(1_000_000)).default({}),
});

const task = z.strictObject({
  id: nameField,
  /** When it runs; `*` is whenever somebody has said something. */
  actions: listenedActions.default(['*']),
  /** The provider of the model. */
  type: provider,
  description: text(2_000).optional(),
  parameters: parametersField.default(() => parameters.parse({})),
  /** Registered MCP servers whose tools the model may call: `github`, or `instance/github` (W-14). */
  mcpServers: listOf(serverName, MAX_SERVERS).default([]),
  /** Tools of the servers of the agent's mcpcalls steps (E-96, E-97). */
  enableMcpCallTools: z.boolean().default(true),
  /** Which calls a person must approve, besides those that the agent says; a task can only ask for more. */
  toolApprovals: approvalFields.ofTask.optional(),
  /** What becomes of calls by what is known of their tools: the first line that fits decides (W-97). */
  toolPolicy: approvalFields.toolPolicy.optional(),
  /** Documents whose HTTP calls the model may make, besides those of the agent's httpcalls steps. */
  tools: listOf(referenceTo('httpcalls'), MAX_CALLS).default([]),
  /** May the model make HTTP calls at all? Only those with `parameters` (platform.md 3.5). */
  enableHttpCallTools: z.boolean().default(true),
  /** May the model call the platform's own tools? Those of the whitelist, or all where it is empty. */
  enableBuiltInTools: z.boolean().default(false),
  builtInToolsWhitelist: listOf(z.enum(BUILT_IN_TOOLS), BUILT_IN_TOOLS.length).default([]),
  /** How often the model may call tools and go on, in one turn. */
  maxToolIterations: z.int().min(1).max(100).default(10),
  /** About so many tokens of what tools answered stay before the model; the oldest go first. */
  maxToolContextTokens: z.int().min(1_000).max(10_000_000).default(60_000),
  toolResponseLimits: toolResponseLimits.default(() => toolResponseLimits.parse({})),
  /** How many earlier turns the model is told; -1 is as many as can be. */
  conversationHistoryLimit: z
    .int()
    .min(-1)
    .max(MAX_TURNS)
    .default(10)
    .transform(turns => (turns === -1 ? MAX_TURNS : turns)),
  /** About so many tokens it is told at first, earlier turns included, of which the oldest go first; -1 is no limit. */
  maxContextTokens: z.int().min(-1).max(10_000_000).default(-1),
  retry: retry.default(() => retry.parse({})),
  /** Seconds without a piece of the answer after which a request is given up. */
  streamingTimeoutSeconds: z.int().min(1).max(3_600).default(120),
  /** US dollars for a million tokens: what a turn costs is counted by them. */
  inputPricePer1M: price.optional(),
  outputPricePer1M: price.optional(),
  /** US dollars a call of a tool costs, by its name, where its server's definition says nothing. */
  toolPricing: z.record(nameField, price).default({}),
  /** US dollars the conversation may spend on the model and its calls, where `enforceBudget` is on. */
  maxBudgetPerConversation: price.optional(),
  enforceBudget: z.boolean().default(false),
});

export type LlmTask = z.output<typeof task>;

/** Google wants the model in the address of a request, where it shall lead nowhere else. */
const MODEL_IN_ADDRESS = /^\w[\w.:@-]*(?:\/\w[\w.:@-]*)*$/;

/** Language models that answer, and what each may use (platform.md 3.7). */
export const llmDocument = {
  type: 'llm',
  body: z.strictObject({
    tasks: listOf(task, MAX_TASKS).superRefine((tasks, context) => {
      const ids = new Set<string>();
      for (const [
        index,
        {
          id,
          type,
          parameters: { model, apiKey, baseUrl },
        },
      ] of tasks.entries()) {
        const issue = (path: string[], message: string) =>
          context.addIssue({ code: 'custom', path: [index, ...path], message });
        if (ids.has(id)) issue(['id'], 'is there twice');
        ids.add(id);
        const { title, needsKey, ...usual } = PROVIDERS[type];
        // Whoever runs a server of their own knows whether it wants one.
        if (needsKey && !apiKey && !baseUrl)
          issue(['parameters', 'apiKey'], `is missing: ${title} wants a key, such as \${vault:${type}}`);
        if (usual.baseUrl === undefined && !baseUrl)
          issue(['parameters', 'baseUrl'], `is missing: ${sayWhere(type)}`);
        if (type === 'gemini' && model && !MODEL_IN_ADDRESS.test(model))
          issue(['parameters', 'model'], 'must be the name of a model, such as gemini-3.5-flash');
        if (usual.defaultModel === undefined && !model)
          issue(['parameters', 'model'], `is missing: ${sayWhich(type)}`);
      }
    }),
  }),
} as const satisfies DocumentSchema;

export type LlmDocument = z.output<typeof llmDocument.body>;
