import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider';
import { closestName } from '../../kernel/closest-name.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';

/** Which subset of JSON Schema a provider takes for the arguments of tools; `plain` is what all of them take. */
export type SchemaDialect = 'anthropic' | 'openai' | 'gemini' | 'plain';

/** Everything but the key that a provider's package would otherwise take from the environment of the process. */
export interface ProviderSettings {
  readonly baseUrl: string;
  /** Is `baseUrl` another address than the provider's own? */
  readonly foreign: boolean;
  readonly fetch: typeof globalThis.fetch;
}

export interface OpenedModel {
  readonly model: LanguageModelV4;
  /** What goes along with every request. */
  readonly options?: SharedV4ProviderOptions;
}

/** Makes a model, which holds nothing but its settings: it may be asked often, and each request brings its key. */
export type OpenModel = (model: string, settings: ProviderSettings) => OpenedModel;

export interface Provider {
  /** As people read it. */
  readonly title: string;
  /** The package, when the first model of it is asked. */
  readonly load: () => Promise<OpenModel>;
  /** `undefined`: whoever configures it says where it is. */
  readonly baseUrl: string | undefined;
  readonly needsKey: boolean;
  /** The header that a key is sent in. */
  readonly keyHeader: (apiKey: string) => Readonly<Record<string, string>>;
  /** What is asked where nothing is said; `undefined` where each installation has its own. */
  readonly defaultModel: string | undefined;
  /** Under which parameters of a task its model may stand, the one that is written first (platform.md 3.7). */
  readonly modelParameters: readonly string[];
  readonly dialect: SchemaDialect;
  /** Can it be held to JSON? Where it cannot, the prompt alone asks for it (platform.md 3.7). */
  readonly jsonMode: 'always' | 'without-tools' | 'never';
  /** Does it take back what its model thought before it called tools? Some want it, some refuse a message that has it. */
  readonly takesThoughts: boolean;
}

const MODEL_NAME = ['modelName', 'model'] as const;

/** By the name that configuration uses. */
export const PROVIDERS = {
  anthropic: {
    title: 'Anthropic',
    load: loadAnthropic,
    baseUrl: 'https://api.anthropic.com/v1',
    needsKey: true,
    keyHeader: apiKey => ({ 'x-api-key': apiKey }),
    defaultModel: 'claude-sonnet-4-6',
    modelParameters: MODEL_NAME,
    dialect: 'anthropic',
    jsonMode: 'never',
    takesThoughts: true,
  },
  openai: {
    title: 'OpenAI',
    load: loadOpenAi,
    baseUrl: 'https://api.openai.com/v1',
    needsKey: true,
    keyHeader: bearer,
    defaultModel: 'gpt-5.4',
    modelParameters: MODEL_NAME,
    dialect: 'openai',
    jsonMode: 'always',
    takesThoughts: true,
  },
  gemini: {
    title: 'Google Gemini',
    load: loadGoogle,
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    needsKey: true,
    keyHeader: apiKey => ({ 'x-goog-api-key': apiKey }),
    defaultModel: 'gemini-3.5-flash',
    modelParameters: MODEL_NAME,
    dialect: 'gemini',
    jsonMode: 'without-tools',
    takesThoughts: true,
  },
  ollama: {
    ...compatible('Ollama', 'http://127.0.0.1:11434/v1', 'qwen3'),
    needsKey: false,
    modelParameters: ['model', 'modelName'],
  },
  jlama: { ...compatible('Jlama', 'http://127.0.0.1:8080'), needsKey: false },
  'openai-compatible': { ...compatible('The OpenAI-compatible server', undefined), needsKey: false },
  mistral: {
    ...compatible('Mistral', 'https://api.mistral.ai/v1', 'mistral-medium-latest'),
    // It refuses a request with members it does not know, and always says what was used.
    load: () => loadCompatible(false),
    takesThoughts: false,
  },
  xai: compatible('xAI', 'https://api.x.ai/v1', 'grok-4'),
  deepseek: compatible('DeepSeek', 'https://api.deepseek.com/v1', 'deepseek-chat'),
  moonshot: compatible('Moonshot', 'https://api.moonshot.ai/v1', 'kimi-k2.5'),
  qwen: compatible('Qwen', 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'qwen-plus'),
  zhipu: compatible('Zhipu', 'https://open.bigmodel.cn/api/paas/v4', 'glm-4.6'),
  minimax: compatible('MiniMax', 'https://api.minimax.io/v1', 'MiniMax-M2'),
  openrouter: compatible('OpenRouter', 'https://openrouter.ai/api/v1', 'openrouter/auto'),
  groq: {
    ...compatible('Groq', 'https://api.groq.com/openai/v1', 'openai/gpt-oss-120b'),
    takesThoughts: false,
  },
  huggingface: {
    ...compatible('Hugging Face', 'https://router.huggingface.co/v1', 'openai/gpt-oss-120b'),
    modelParameters: ['modelId', 'modelName', 'model'],
    // It passes requests on to others, some of them strict.
    takesThoughts: false,
  },
} as const satisfies Readonly<Record<string, Provider>>;

export type ProviderName = keyof typeof PROVIDERS;

/** Other names of the same, as other programs write them. */
const ALIASES: Readonly<Record<string, ProviderName>> = { google: 'gemini' };

/** The provider that a configuration names, or the sentence that says which there are. */
export function readProvider(
  name: string,
): Outcome<ProviderName, { readonly reason: 'unknown_provider'; readonly message: string }> {
  if (Object.hasOwn(PROVIDERS, name)) return granted(name as ProviderName);
  if (Object.hasOwn(ALIASES, name)) return granted(ALIASES[name]!);
  const known = Object.keys(PROVIDERS);
  const meant = closestName(name, known);
  const shown = JSON.stringify(name.slice(0, 100));
  return refused({
    reason: 'unknown_provider',
    message: `There is no provider ${shown}${meant ? `; did you mean "${meant}"?` : '.'} Known are ${known.join(', ')}.`,
  });
}

function bearer(apiKey: string) {
  return { Authorization: `Bearer ${apiKey}` };
}

function compatible<const U extends string | undefined>(title: string, baseUrl: U, defaultModel?: string) {
  return {
    title,
    load: () => loadCompatible(),
    baseUrl,
    needsKey: true,
    keyHeader: bearer,
    defaultModel,
    modelParameters: MODEL_NAME,
    dialect: 'plain',
    jsonMode: 'always',
    takesThoughts: true,
  } as const;
}

/** So that a package does not look for a key in the environment: the header of each request stands in its place. */
const NO_KEY = '';

async function loadAnthropic(): Promise<OpenModel> {
  const { createAnthropic } = await import('@ai-sdk/anthropic');
  return (model, { baseUrl, fetch }) => ({
    model: createAnthropic({ apiKey: NO_KEY, baseURL: baseUrl, fetch }).languageModel(model),
    // Arguments that are streamed bit by bit are not checked by the provider, and nobody here wants to see them grow.
    options: { anthropic: { toolStreaming: false } },
  });
}

/**
 * Responses is what OpenAI's newer models are made for; other servers that call themselves OpenAI often have Chat Completions only. Nothing is to be kept
 * over there: the whole conversation is sent each time.
 */
async function loadOpenAi(): Promise<OpenModel> {
  const { createOpenAI } = await import('@ai-sdk/openai');
  return (model, { baseUrl, foreign, fetch }) => {
    const provider = createOpenAI({ apiKey: NO_KEY, baseURL: baseUrl, fetch });
    const strictJsonSchema = false;
    return foreign
      ? { model: provider.chat(model), options: { openai: { strictJsonSchema } } }
      : { model: provider.responses(model), options: { openai: { strictJsonSchema, store: false } } };
  };
}

async function loadGoogle(): Promise<OpenModel> {
  const { createGoogle } = await import('@ai-sdk/google');
  return (model, { baseUrl, fetch }) => ({
    model: createGoogle({ apiKey: NO_KEY, baseURL: baseUrl, fetch }).languageModel(model),
  });
}

async function loadCompatible(asksForUsage = true): Promise<OpenModel> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return (model, { baseUrl, fetch }) => ({
    model: createOpenAICompatible({
      name: 'compatible',
      baseURL: baseUrl,
      includeUsage: asksForUsage,
      fetch,
    }).chatModel(model),
  });
}
