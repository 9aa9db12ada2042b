import { Fault } from '../../kernel/errors.ts';
import type { OpenedModel, Provider } from './providers.ts';

/** Which model is asked, and where. */
export interface Target {
  readonly provider: Provider;
  readonly model: string;
  readonly baseUrl: string;
  /** Is `baseUrl` another address than the provider's own? */
  readonly foreign: boolean;
}

type Fetch = typeof globalThis.fetch;

/** Models that were opened once and are asked again and again: some packages make all their schemas anew for each, which costs more than to ask. */
export interface OpenedModels {
  open(target: Target): Promise<OpenedModel>;
  /** The request that is made with this signal goes through this fetch. */
  lead(signal: AbortSignal, fetch: Fetch): void;
}

/** The one that was not asked for the longest time goes first: whoever writes agents names models as they like. */
const MAX_OPEN = 100;

export function createOpenedModels(): OpenedModels {
  const opened = new Map<string, OpenedModel>();
  /** What a request is known by, where a package knows nothing of it but what it was given. */
  const fetches = new WeakMap<AbortSignal, Fetch>();

  const fetch: Fetch = (input, init) => {
    const own = init?.signal && fetches.get(init.signal);
    if (!own) throw new Fault('model_request_unknown', 'A package sent a request without its signal');
    return own(input, init);
  };

  return {
    async open({ provider, model, baseUrl, foreign }) {
      const key = JSON.stringify([provider.title, model, baseUrl, foreign]);
      const found = opened.get(key) ?? (await provider.load())(model, { baseUrl, foreign, fetch });
      opened.delete(key);
      opened.set(key, found);
      if (opened.size > MAX_OPEN) opened.delete(opened.keys().next().value!);
      return found;
    },
    lead: (signal, own) => void fetches.set(signal, own),
  };
}
