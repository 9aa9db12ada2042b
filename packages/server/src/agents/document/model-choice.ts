import { PlatformError } from '../../kernel/errors.ts';
import { PROVIDERS, type Provider, type ProviderName, readProvider } from '../model/providers.ts';

/** `provider:model`, or the provider alone: a model may have colons of its own, such as `ollama:qwen3:8b`. */
export function splitModel(text: string): { readonly provider: string; readonly model: string | undefined } {
  const [, provider = '', model] = /^([^:]*)(?::(.*))?$/s.exec(text.trim()) ?? [];
  return { provider: provider.trim(), model: model?.trim() || undefined };
}

/** The model of an agent, as somebody names it who makes one. */
export interface ModelChoice {
  readonly provider: string;
  /** The provider's usual one when left out. */
  readonly model?: string | undefined;
  /** A key or a reference to one. */
  readonly apiKey?: string | undefined;
  /** The provider's own address when left out. */
  readonly baseUrl?: string | undefined;
}

export interface ChosenModel {
  readonly provider: ProviderName;
  readonly model: string;
}

/**
 * Which model that is. Throws a `PlatformError` of kind `invalid` that begins with the name of what is wrong or missing, and says what there is or
 * what to do.
 */
export function chooseModel({ provider: named, model, apiKey, baseUrl }: ModelChoice): ChosenModel {
  const read = readProvider(named.trim());
  if (!read.ok) throw new PlatformError('invalid', `provider: ${read.refusal.message}`);
  const provider = read.value;
  const usual: Provider = PROVIDERS[provider];
  const { title } = usual;
  if (usual.needsKey && !apiKey?.trim() && !baseUrl?.trim()) {
    throw new PlatformError(
      'invalid',
      `apiKey is missing: ${title} wants a key. Store one with \`npx patchbay secrets set ${provider}\` and name it as \${vault:${provider}}, or give the key itself.`,
    );
  }
  if (usual.baseUrl === undefined && !baseUrl?.trim()) {
    throw new PlatformError('invalid', `baseUrl is missing: ${sayWhere(provider)}.`);
  }
  const chosen = model?.trim() || usual.defaultModel;
  if (chosen === undefined) {
    throw new PlatformError('invalid', `model is missing: ${sayWhich(provider)}.`);
  }
  return { provider, model: chosen };
}

/** What to do about an address that nobody knows. */
export function sayWhere(provider: ProviderName): string {
  return `give the address of the server of ${provider}, such as http://127.0.0.1:8000/v1`;
}

/** What to do about a model that has no usual one in its place. */
export function sayWhich(provider: ProviderName): string {
  return `name a model that the server of ${provider} has`;
}

/** What somebody has to say who wants a model, besides its name. */
export interface ModelNeeds {
  readonly provider: ProviderName;
  readonly key: boolean;
  /** Where the provider is; `undefined`: whoever wants the model has to say it. */
  readonly address: string | undefined;
}

/** Of a model as `provider:model`. Throws a `PlatformError` of kind `invalid` that says which providers there are, or that the model is missing. */
export function needsOf(named: string): ModelNeeds {
  const { provider: text, model } = splitModel(named);
  const read = readProvider(text);
  if (!read.ok) throw new PlatformError('invalid', read.refusal.message);
  const { needsKey, baseUrl, defaultModel }: Provider = PROVIDERS[read.value];
  if (model === undefined && defaultModel === undefined) {
    throw new PlatformError('invalid', `Which model of ${read.value}? Write it as ${read.value}:model.`);
  }
  return { provider: read.value, key: needsKey, address: baseUrl };
}
