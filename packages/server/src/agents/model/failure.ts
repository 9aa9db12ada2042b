import { APICallError } from '@ai-sdk/provider';
import { cut } from '../../connections/tool/govern-text.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import { redactText } from '../../kernel/redact.ts';
import { BrokenAnswer, FailedAnswer, UnusableAnswer } from './answer.ts';
import type { ModelFailure } from './model.ts';

export interface Failure {
  readonly code: ModelFailure;
  /** For the agent's author. */
  readonly message: string;
  /** For whoever talks to the agent: the same without the address and the provider's own words. */
  readonly told: string;
  /** May the same request do better? */
  readonly again: boolean;
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number | undefined;
}

/** The time of a request is up. */
export class TimeIsUp extends Error {
  /** `why` follows the name of the provider. */
  constructor(why: string) {
    super(why);
    this.name = 'TimeIsUp';
  }
}

export interface FailureContext {
  /** As people read it. */
  readonly provider: string;
  readonly model: string;
  /** The media type of what came back with a good status; `undefined` before anything did. */
  readonly answeredWith: string | undefined;
  /** Takes the key out of a text. */
  readonly scrub: (text: string) => string;
  /** Epoch ms. */
  readonly now: number;
}

/** What anything thrown on the way to a model and back means to the agent's author. */
export function failureOf(thrown: unknown, context: FailureContext): Failure {
  const { provider } = context;
  const chain = causes(thrown);
  const find = <T>(type: new (...args: never[]) => T) =>
    chain.find((each): each is T => each instanceof type);

  const late = find(TimeIsUp);
  if (late)
    return failure(
      'TIMEOUT',
      `${provider} ${late.message}; raise the time limit of the task, or ask for less.`,
    );
  const unusable = find(UnusableAnswer);
  if (unusable)
    return failure('PROTOCOL_ERROR', `${provider} can't be used here: its answer ${unusable.message}.`);
  const refused = find(PlatformError);
  if (refused) return connectionFailure(refused, context);
  const broken = find(BrokenAnswer);
  if (broken) return brokenFailure(broken, context);
  const said = chain.map(readSaid).find(each => each !== undefined);
  if (said) return statusFailure(said, context);
  const failed = find(FailedAnswer);
  if (failed && !(failed.cause instanceof Error))
    return statusFailure({ status: 500, text: textOf(failed.cause) }, context);
  return failure('PROTOCOL_ERROR', `${provider} answered something that can't be read; check the base URL.`);
}

function failure(code: ModelFailure, message: string, again = false, told = message): Failure {
  return { code, message, told, again };
}

/** The safe fetch says in its message which address it means and why, and nothing of what answered. */
function connectionFailure(error: PlatformError, { provider, answeredWith }: FailureContext): Failure {
  const reason = error.details?.reason;
  if (reason === 'too_large')
    return failure('PROTOCOL_ERROR', `${provider} can't be used here: its answer is too large.`);
  if (reason === 'broken' && answeredWith !== undefined) return cutOff(provider);
  if (reason === 'address')
    return failure(
      'UNAVAILABLE',
      `${provider}: ${error.message}; check the base URL, and where it is meant, name the host in the setting egress.privateHosts.`,
      false,
      `${provider} is at an address that may not be reached; check the base URL, and the setting egress.privateHosts.`,
    );
  const again = reason === 'connect' || reason === 'broken' || reason === 'timeout';
  return failure(
    'UNAVAILABLE',
    `${provider}: ${error.message}; check the base URL.`,
    again,
    `${provider} can't be reached; check the base URL.`,
  );
}

const EVENTS = 'text/event-stream';

function brokenFailure({ how }: BrokenAnswer, { provider, answeredWith }: FailureContext): Failure {
  if (how === 'malformed-call')
    return failure('PROTOCOL_ERROR', `${provider} wrote a call of a tool that is none; try again.`, true);
  // A page of a website, or a server that does not stream, ends like an answer that broke off.
  if (answeredWith !== undefined && answeredWith !== '' && answeredWith !== EVENTS)
    return failure(
      'PROTOCOL_ERROR',
      `${provider} answered with ${cut(redactText(answeredWith), 100)} where a stream of events was expected; check the base URL.`,
    );
  return cutOff(provider);
}

function cutOff(provider: string): Failure {
  return failure('CUT_OFF', `${provider} broke off in the middle of its answer; try again.`, true);
}

/** What a provider said of its failure, in a status or in the middle of an answer. */
interface Said {
  readonly status: number;
  readonly text: string;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

function readSaid(error: unknown): Said | undefined {
  if (APICallError.isInstance(error)) {
    const { statusCode, message, responseHeaders } = error;
    if (statusCode === undefined || statusCode < 400) return undefined;
    return { status: statusCode, text: message, headers: responseHeaders };
  }
  if (!isObject(error) || error instanceof Error) return undefined;
  const status = [error.statusCode, error.status, error.code].map(Number).find(isFailedStatus);
  return status === undefined ? undefined : { status, text: textOf(error) };
}

const isFailedStatus = (status: number) => Number.isInteger(status) && status >= 400 && status < 600;

/** Of an error in the middle of an answer, which each compatible server writes its own way. */
function textOf(said: unknown): string {
  if (typeof said === 'string') return said;
  return isObject(said) && typeof said.message === 'string' ? said.message : '';
}

const TOO_LONG =
  /context[ _](?:length|window)|prompt (?:is )?too long|input token count|too many input tokens|reduce the length/i;
const NO_CREDIT = /insufficient[ _](?:quota|balance|credit)|credit balance|exceeded your current quota/i;
const BAD_KEY = /api[ _]key (?:not valid|is invalid|expired)|invalid api[ _]key/i;
/** What is looked through of a provider's message. */
const MAX_READ = 2_000;
/** What is shown of it. */
const MAX_SHOWN = 300;

function statusFailure({ status, text, headers }: Said, context: FailureContext): Failure {
  const { provider, model } = context;
  const read = text.slice(0, MAX_READ);
  const why = saying(read, context);
  const told = (code: ModelFailure, sentence: string, again = false): Failure => {
    const retryAfterMs = again ? retryAfter(headers, context.now) : undefined;
    return {
      ...failure(code, `${provider} ${sentence}${why}`, again, `${provider} ${sentence}`),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    };
  };

  if (status === 401 || (status === 400 && BAD_KEY.test(read)))
    // Some providers repeat a part of the key.
    return failure(
      'AUTHENTICATION_FAILED',
      `${provider} refused the API key (status ${status}); check the key.`,
    );
  if (status === 403)
    return told(
      'AUTHENTICATION_FAILED',
      `does not let this API key use ${model} (status 403); check what it may do.`,
    );
  if (status === 402 || (status === 429 && NO_CREDIT.test(read)))
    return told('RATE_LIMITED', `says that the account has no credit left (status ${status}); add some.`);
  if (status === 404)
    return told(
      'MODEL_NOT_FOUND',
      `has no ${model} at this address (status 404); check the model and the base URL.`,
    );
  if (status === 413 || ((status === 400 || status === 422) && TOO_LONG.test(read)))
    return told(
      'CONTEXT_TOO_LONG',
      `can't read so much at once with ${model} (status ${status}); keep less history, or take a model that reads more.`,
    );
  if (status === 429)
    return told(
      'RATE_LIMITED',
      'takes no more requests for now (status 429); wait, or raise the limits of the account.',
      true,
    );
  if (status === 503 || status === 529)
    return told('OVERLOADED', `is overloaded (status ${status}); try again later.`, true);
  if (status === 408 || status === 409 || status >= 500)
    return told('UNAVAILABLE', `failed (status ${status}); try again later.`, true);
  return told(
    'BAD_REQUEST',
    `refused the request (status ${status}); check the parameters of the task and the schemas of its tools.`,
  );
}

function saying(text: string, { scrub }: FailureContext): string {
  const clean = redactText(scrub(text)).trim();
  return clean === '' ? '' : ` It said: ${cut(clean, MAX_SHOWN)}`;
}

/** Milliseconds, as OpenAI says them, or seconds, or a date. */
function retryAfter(headers: Said['headers'], now: number): number | undefined {
  const exact = Number(headers?.['retry-after-ms'] ?? Number.NaN);
  if (exact >= 0) return exact;
  const said = headers?.['retry-after'];
  if (said === undefined) return undefined;
  const seconds = Number(said);
  const wait = said.trim() !== '' && Number.isFinite(seconds) ? seconds * 1000 : Date.parse(said) - now;
  return wait >= 0 ? wait : undefined;
}

const MAX_CAUSES = 10;

function causes(thrown: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let each = thrown; each !== undefined && chain.length < MAX_CAUSES; ) {
    chain.push(each);
    each = each instanceof Error ? each.cause : undefined;
  }
  return chain;
}
