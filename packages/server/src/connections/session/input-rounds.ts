import type { Clock } from '../../kernel/clock.ts';
import { isObject } from '../../kernel/json.ts';
import { SessionError } from './failure.ts';
import type { Answerer, Members, RequestOptions } from './wire.ts';

/** Requests that a server of the stateless era may answer with questions (2026-07-28, Multi Round-Trip Requests). */
const MAY_ASK = new Set(['tools/call', 'prompts/get', 'resources/read']);
/** Of questions, until a request has its result. */
const MAX_ROUNDS = 5;
const MAX_QUESTIONS = 20;

export interface RoundsOptions {
  readonly send: (method: string, params: Members, options: RequestOptions) => Promise<Members>;
  readonly answer: Answerer;
  readonly clock: Clock;
}

/**
 * Sends a request of the stateless era and answers what the server asks before it has a result: each round is the same request with the
 * answers, and with the state that came along, unread. Waiting for answers takes from the request's own time. Rejects with a
 * `SessionError`, of kind `UNSUPPORTED_RESULT` for what is no result and cannot be answered.
 */
export async function requestInRounds(
  { send, answer, clock }: RoundsOptions,
  method: string,
  params: Members,
  options: RequestOptions,
): Promise<Members> {
  const until = clock.now() + options.timeoutMs;
  const left = () => ({ ...options, timeoutMs: Math.max(1, until - clock.now()) });
  let result = await send(method, params, options);
  for (let round = 1; result.resultType === 'input_required'; round++) {
    if (!MAY_ASK.has(method)) throw unsupported('it answered with questions where none are allowed');
    if (round > MAX_ROUNDS) throw unsupported(`it asked more than ${MAX_ROUNDS} times`);
    const answers = await inTime(answersTo(result, answer), left(), clock);
    result = await send(method, { ...params, ...answers }, left()).catch(error => {
      throw arrivedBefore(error);
    });
  }
  const { resultType } = result;
  if (resultType !== undefined && resultType !== 'complete') {
    throw unsupported(`it answered with a result of the type ${JSON.stringify(resultType)}`);
  }
  return result;
}

async function answersTo({ inputRequests, requestState }: Members, answer: Answerer): Promise<Members> {
  if (inputRequests === undefined && requestState === undefined) throw unsupported('it asked for nothing');
  if (requestState !== undefined && typeof requestState !== 'string')
    throw unsupported('its state is no text');
  const state = requestState === undefined ? {} : { requestState };
  if (inputRequests === undefined) return state;
  if (!isObject(inputRequests)) throw unsupported('its questions are no object');
  const questions = Object.entries(inputRequests);
  if (questions.length > MAX_QUESTIONS)
    throw unsupported(`it asked more than ${MAX_QUESTIONS} questions at once`);
  const answers = await Promise.all(
    questions.map(async ([key, question]) => [key, await answerTo(question, answer)] as const),
  );
  return { inputResponses: Object.fromEntries(answers), ...state };
}

async function answerTo(question: unknown, answer: Answerer): Promise<Members> {
  if (!isObject(question) || typeof question.method !== 'string')
    throw unsupported('its question is no request');
  const { method, params } = question;
  try {
    return await answer(method, isObject(params) ? params : {});
  } catch (cause) {
    throw unsupported(`it asked for ${method.slice(0, 100)}, which nobody answers`, cause);
  }
}

/** The answer may be a person's: whoever asked does not wait longer for it than for everything else. */
async function inTime<T>(
  answering: Promise<T>,
  { timeoutMs, signal }: RequestOptions,
  clock: Clock,
): Promise<T> {
  const over = new AbortController();
  const stop = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  const late = clock.sleep(timeoutMs, stop).then(() => {
    throw new SessionError('TIMEOUT', 'yes', 'its question was not answered in time');
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([answering, late]);
  } finally {
    over.abort();
  }
}

/** The server has had the request, whatever became of the answers to its questions: no code or status says that it may be sent again. */
function arrivedBefore(error: unknown): unknown {
  if (!(error instanceof SessionError)) return error;
  return new SessionError(error.kind, 'yes', error.message, { cause: error });
}

function unsupported(message: string, cause?: unknown): SessionError {
  return new SessionError('UNSUPPORTED_RESULT', 'yes', message, { cause });
}
