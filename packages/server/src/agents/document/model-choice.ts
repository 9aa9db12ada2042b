import { PlatformError } from '../../kernel/errors.ts';
import { PROVIDERS, type Provider, type ProviderName, readProvider } from '../model/providers.ts';

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
  if (usual.needsKey && !apiKey?.trim()) {
    throw new PlatformError(
      'invalid',
      `apiKey is missing: ${title} wants a key. Store one with \`npx patchbay secrets set ${provider}\` and name it as \${vault:${provider}}, or give the key itself.`,
    );
  }
  if (usual.baseUrl === undefined && !baseUrl?.trim()) {
    throw new PlatformError('invalid', `baseUrl is missing: where is the server of ${provider}?`);
  }
  const chosen = model?.trim() || usual.defaultModel;
  if (chosen === undefined) {
    throw new PlatformError('invalid', `model is missing: which model of ${title}?`);
  }
  return { provider, model: chosen };
}
