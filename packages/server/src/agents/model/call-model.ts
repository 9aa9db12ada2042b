import { waitBeforeNext } from '../../connections/call/outbound-call.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import { createScrubber } from '../../kernel/redact.ts';
import type { SafeFetch } from '../../kernel/safe-fetch.ts';
import { askOnce } from './ask-once.ts';
import type { Failure } from './failure.ts';
import type { CallModel, ModelOutcome, ModelRequest, ModelUsage } from './model.ts';
import { createOpenedModels, type Target } from './opened-models.ts';
import { PROVIDERS, type Provider } from './providers.ts';

export interface ModelParts {
  readonly fetch: SafeFetch;
  /** To the address that the table of providers has for one: it may be of this machine, as Ollama's. */
  readonly fetchOwn: SafeFetch;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * What asks models: one request to one model, its answer streamed, sent again as the request's retry policy says where it failed for a reason that may pass.
 * Nothing comes from the environment of the process, and nothing leaves but through the given fetch.
 */
export function createModels({ fetch, fetchOwn, clock, logger }: ModelParts): CallModel {
  const models = createOpenedModels();
  return async request => {
    request.signal.throwIfAborted();
    const began = clock.now();
    const took = () => clock.now() - began;
    const found = findTarget(request);
    if (found.kind === 'failed') return { ...found, attempts: 0, durationMs: took() };
    const { provider: row, foreign } = found.target;
    const opened = await models.open(found.target);
    const scrub = scrubberFor(request);
    const speech = createSpeech(request.onText);
    const { provider, model } = request;
    const onLeftOut = (what: readonly object[]) =>
      logger.debug('a model was not sent all of its request', { provider, model, what });
    let usage: ModelUsage | undefined;
    for (let attempts = 1; ; attempts++) {
      const attempt = await askOnce(
        request,
        { provider: row, opened },
        {
          ...{ models, clock, scrub, onLeftOut },
          fetch: foreign ? fetch : fetchOwn,
          onText: speech.begin(),
        },
      );
      usage = sumOf(usage, attempt.usage);
      if (attempt.kind === 'answered') {
        const { parts, finish } = attempt;
        return {
          kind: 'answered',
          parts,
          finish,
          usage: usage ?? NOTHING_USED,
          attempts,
          durationMs: took(),
        };
      }
      const { failure } = attempt;
      const waitMs = waitBeforeRetry(request, attempts, failure);
      const { code, told } = failure;
      const message = scrub(failure.message);
      logger.info('a request to a model failed', {
        provider,
        model,
        code,
        reason: message,
        attempts,
        waitMs,
      });
      if (waitMs === undefined)
        return { kind: 'failed', code, message, told, ...(usage && { usage }), attempts, durationMs: took() };
      await clock.sleep(waitMs, request.signal);
    }
  };
}

function scrubberFor({ apiKey, secrets = [] }: ModelRequest): (text: string) => string {
  return createScrubber([...secrets, ...(apiKey === undefined ? [] : [apiKey])]);
}

const NOTHING_USED: ModelUsage = { inputTokens: 0, outputTokens: 0 };

function waitBeforeRetry({ retry }: ModelRequest, attempts: number, failure: Failure): number | undefined {
  const wait = failure.again ? waitBeforeNext(retry, attempts) : undefined;
  if (wait === undefined || failure.retryAfterMs === undefined) return wait;
  return Math.min(Math.max(wait, failure.retryAfterMs), retry.maxBackoffDelayMs);
}

type Found =
  | { readonly kind: 'found'; readonly target: Target }
  | Pick<Extract<ModelOutcome, { kind: 'failed' }>, 'kind' | 'code' | 'message'>;

function findTarget({ provider: name, model, apiKey, baseUrl: given }: ModelRequest): Found {
  const provider: Provider = PROVIDERS[name];
  const { title } = provider;
  const baseUrl = addressOf(given, provider);
  if (baseUrl === undefined)
    return {
      kind: 'failed',
      code: 'BAD_REQUEST',
      message: `${title} needs a base URL, such as http://host/v1.`,
    };
  const foreign = baseUrl !== provider.baseUrl;
  if (provider.needsKey && !foreign && !apiKey)
    return {
      kind: 'failed',
      code: 'AUTHENTICATION_FAILED',
      message: `${title} needs an API key, and there is none.`,
    };
  return { kind: 'found', target: { provider, model, baseUrl, foreign } };
}

/** Of an address without a path, the rest is as at the provider's own: so people write the address of a server on their own machine. */
function addressOf(given: string | undefined, provider: Provider): string | undefined {
  if (given === undefined || given === '') return provider.baseUrl;
  const url = URL.parse(given);
  if (!url?.protocol.startsWith('http')) return undefined;
  if (url.pathname === '/' && provider.baseUrl !== undefined)
    url.pathname = new URL(provider.baseUrl).pathname;
  return url.href.replace(/\/+$/, '');
}

/** Tells the text of one answer as it grows, also when it has to be asked for again: nothing is told twice. */
function createSpeech(onText: ModelRequest['onText']) {
  let told = '';
  return {
    begin() {
      let at = 0;
      let same = true;
      return (delta: string) => {
        if (!onText || !same) return;
        const again = told.slice(at, at + delta.length);
        same = delta.startsWith(again);
        if (!same) return;
        at += delta.length;
        const more = delta.slice(again.length);
        if (more === '') return;
        told += more;
        onText(more);
      };
    },
  };
}

function sumOf(before: ModelUsage | undefined, now: ModelUsage | undefined): ModelUsage | undefined {
  if (!before || !now) return before ?? now;
  const cacheReadTokens = (before.cacheReadTokens ?? 0) + (now.cacheReadTokens ?? 0);
  const reasoningTokens = (before.reasoningTokens ?? 0) + (now.reasoningTokens ?? 0);
  return {
    inputTokens: before.inputTokens + now.inputTokens,
    outputTokens: before.outputTokens + now.outputTokens,
    ...(cacheReadTokens > 0 && { cacheReadTokens }),
    ...(reasoningTokens > 0 && { reasoningTokens }),
  };
}
