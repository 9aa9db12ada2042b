import { type ModelScript, type ScriptedModel, startScriptedModel } from '@patchbay/testing/scripted-model';
import type { WireName } from '@patchbay/testing/scripted-model/wire';
import { createModels } from '../../packages/server/src/agents/model/call-model.ts';
import type { AnswerPart, ModelOutcome, ModelRequest } from '../../packages/server/src/agents/model/model.ts';
import type { ProviderName } from '../../packages/server/src/agents/model/providers.ts';
import { type Clock, systemClock } from '../../packages/server/src/kernel/clock.ts';
import { createLogger } from '../../packages/server/src/kernel/logger.ts';
import { createSafeFetch, type SafeFetch } from '../../packages/server/src/kernel/safe-fetch.ts';

/** A way to ask a model: the package of a provider, and the wire format that it speaks. */
export interface Way {
  readonly name: string;
  readonly provider: ProviderName;
  readonly wire: WireName;
  /** Is it asked at the provider's own address? The fetch of the rig leads that to the scripted model. */
  readonly own?: boolean;
}

export const WAYS: readonly Way[] = [
  { name: 'Anthropic', provider: 'anthropic', wire: 'anthropic' },
  { name: 'OpenAI', provider: 'openai', wire: 'responses', own: true },
  { name: 'an OpenAI elsewhere', provider: 'openai', wire: 'chat-completions' },
  { name: 'an OpenAI-compatible server', provider: 'openai-compatible', wire: 'chat-completions' },
  { name: 'Gemini', provider: 'gemini', wire: 'gemini' },
];

export interface Rig extends AsyncDisposable {
  readonly model: ScriptedModel;
  readonly log: string;
  request(way: Way): ModelRequest;
  ask(way: Way, changed?: Partial<ModelRequest>): Promise<ModelOutcome>;
}

const OWN_ADDRESSES =
  /^https:\/\/(?:api\.anthropic\.com|api\.openai\.com|generativelanguage\.googleapis\.com)/;

/** A scripted model, and what asks it. */
export async function startRig(script: ModelScript = [], clock: Clock = systemClock): Promise<Rig> {
  const model = await startScriptedModel(script);
  const fetch = createSafeFetch({ allowPrivate: () => true });
  const log: string[] = [];
  const logger = createLogger({
    level: 'debug',
    format: 'json',
    clock,
    destination: { write: line => log.push(line) },
  });
  const led: SafeFetch = Object.assign(
    (url: string | URL, init: Parameters<SafeFetch>[1]) =>
      fetch(String(url).replace(OWN_ADDRESSES, model.url), init),
    fetch,
  );
  const callModel = createModels({ fetch: led, fetchOwn: led, clock, logger });
  const request = (way: Way): ModelRequest => ({
    provider: way.provider,
    model: 'scripted',
    apiKey: 'key-of-the-task',
    baseUrl: way.own ? undefined : model.baseUrl(way.wire),
    system: 'Be brief.',
    messages: [{ role: 'user', text: 'Hello' }],
    tools: [],
    timeoutMs: 10_000,
    totalMs: 20_000,
    retry: { maxAttempts: 3, backoffDelayMs: 1, backoffMultiplier: 2, maxBackoffDelayMs: 5 },
    signal: new AbortController().signal,
  });
  return {
    model,
    get log() {
      return log.join('');
    },
    request,
    ask: (way, changed) => callModel({ ...request(way), ...changed }),
    async [Symbol.asyncDispose]() {
      await fetch.close();
      await model[Symbol.asyncDispose]();
    },
  };
}

export function textOf(outcome: ModelOutcome): string {
  return outcome.kind === 'failed'
    ? ''
    : outcome.parts.map(part => (part.type === 'text' ? part.text : '')).join('');
}

export function callsOf(outcome: ModelOutcome): readonly Extract<AnswerPart, { type: 'tool-call' }>[] {
  return outcome.kind === 'failed' ? [] : outcome.parts.filter(part => part.type === 'tool-call');
}
