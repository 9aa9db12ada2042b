import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { Clock } from '../../kernel/clock.ts';
import type { SafeFetch } from '../../kernel/safe-fetch.ts';
import { AnswerInProgress, type WholeAnswer } from './answer.ts';
import { type Failure, type FailureContext, failureOf, TimeIsUp } from './failure.ts';
import { promptOf } from './messages.ts';
import type { ModelRequest, ModelTool, ModelUsage } from './model.ts';
import type { OpenedModels } from './opened-models.ts';
import type { OpenedModel, Provider } from './providers.ts';

/** Of the body of one answer. Its characters are counted in `answer.ts`; the events around them are many times as long. */
const MAX_BYTES = 64 * 1024 * 1024;

export type Attempt = { readonly usage: ModelUsage | undefined } & (
  | ({ readonly kind: 'answered' } & WholeAnswer)
  | { readonly kind: 'failed'; readonly failure: Failure }
);

/** Sends the request once. Rejects only with the reason of its signal. */
export async function askOnce(
  request: ModelRequest,
  { provider, opened: { model, options } }: { readonly provider: Provider; readonly opened: OpenedModel },
  parts: {
    readonly models: Pick<OpenedModels, 'lead'>;
    readonly fetch: SafeFetch;
    readonly clock: Clock;
    readonly scrub: (text: string) => string;
    readonly onText: (delta: string) => void;
    /** Hears what of the request the model does not know, and was not sent. */
    readonly onLeftOut: (what: readonly object[]) => void;
  },
): Promise<Attempt> {
  const { clock, scrub } = parts;
  request.signal.throwIfAborted();
  const over = new AbortController();
  const cancel = () => over.abort(request.signal.reason);
  request.signal.addEventListener('abort', cancel);
  const heard = keepTime(clock, request, over);
  const wire = listening(parts.fetch, heard);
  parts.models.lead(over.signal, wire.fetch);
  const answer = new AnswerInProgress(parts.onText);
  try {
    const { stream } = await model.doStream({
      ...optionsOf(request, provider),
      ...(options && { providerOptions: options }),
      abortSignal: over.signal,
    });
    for await (const part of stream) {
      if (part.type === 'stream-start' && part.warnings.length > 0) parts.onLeftOut(part.warnings);
      answer.add(part);
    }
    return { kind: 'answered', ...answer.end(), usage: answer.usage };
  } catch (error) {
    request.signal.throwIfAborted();
    const thrown = over.signal.aborted ? over.signal.reason : error;
    const context: FailureContext = {
      provider: provider.title,
      model: request.model,
      answeredWith: wire.answeredWith(),
      scrub,
      now: clock.now(),
    };
    return { kind: 'failed', failure: failureOf(thrown, context), usage: answer.usage };
  } finally {
    request.signal.removeEventListener('abort', cancel);
    // Nothing of the request goes on behind its end, whatever ended it.
    over.abort(OVER);
  }
}

/** Nobody reads it. */
const OVER = Symbol('over');

function optionsOf(request: ModelRequest, provider: Provider): LanguageModelV4CallOptions {
  const { apiKey, tools, mayCall = true, temperature, maxTokens, json } = request;
  const { jsonMode } = provider;
  const heldToJson = json && (jsonMode === 'always' || (jsonMode === 'without-tools' && tools.length === 0));
  return {
    prompt: promptOf(request, provider),
    ...(apiKey && { headers: provider.keyHeader(apiKey) }),
    ...(tools.length > 0 && { tools: tools.map(sentTool) }),
    // Without the tools the calls that were made would be of none.
    ...(tools.length > 0 && !mayCall && { toolChoice: { type: 'none' } }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(heldToJson && { responseFormat: { type: 'json', ...(json.schema && { schema: json.schema }) } }),
  };
}

/** Whoever offers a tool may know more of it. */
function sentTool({ name, description, inputSchema }: ModelTool): LanguageModelV4FunctionTool {
  return { type: 'function', name, description, inputSchema };
}

/** Aborts when the request takes too long, or is silent for too long. Gives what is to be called when something was heard. */
function keepTime(
  clock: Clock,
  { timeoutMs, totalMs }: Pick<ModelRequest, 'timeoutMs' | 'totalMs'>,
  over: AbortController,
): () => void {
  const began = clock.now();
  let heardAt = began;
  const watch = async () => {
    for (;;) {
      const now = clock.now();
      const silentLeft = heardAt + timeoutMs - now;
      const left = Math.min(silentLeft, began + totalMs - now);
      if (left <= 0) {
        const why = silentLeft <= 0 ? `said nothing for ${timeoutMs} ms` : `took longer than ${totalMs} ms`;
        return over.abort(new TimeIsUp(why));
      }
      await clock.sleep(Math.min(left, MAX_SLEEP), over.signal);
    }
  };
  watch().catch(() => undefined);
  return () => {
    heardAt = clock.now();
  };
}

/** A timer of Node goes off at once where it is asked for more. */
const MAX_SLEEP = 2 ** 31 - 1;

/** The safe fetch for one request, which tells when bytes come and what kind of answer they are. */
function listening(fetch: SafeFetch, heard: () => void) {
  let answeredWith: string | undefined;
  const listen = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const limits = { totalMs: Number.POSITIVE_INFINITY, maxBytes: MAX_BYTES };
    const url = input instanceof Request ? input.url : input;
    // The address stands in the configuration of an agent or is the provider's own.
    const response = await fetch(url, { ...init, hostFrom: 'operator', limits, onBytes: heard });
    heard();
    if (response.ok) answeredWith = mediaType(response.headers);
    return response;
  };
  return { fetch: listen, answeredWith: () => answeredWith };
}

function mediaType(headers: Headers): string {
  return (headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
}
