import { BY_AGENT, CALLED_BY_HEADER } from '@patchbay/contract/called-by';
import { PlatformError } from '../../../../kernel/errors.ts';
import { parseJson } from '../../../../kernel/json.ts';
import type { FetchFailure } from '../../../../kernel/safe-fetch.ts';
import type { StepTools } from '../../../step/step.ts';
import type { HttpCall } from './http-call.ts';
import {
  type Answered,
  type CallErrorCode,
  type NotAnswered,
  notAnswered,
  type SentRequest,
} from './outcome.ts';
import type { BuiltRequest } from './request-template.ts';
import { createScrub, type Scrub } from './scrub.ts';

const MAX_DEPTH = 100;
const NOT_JSON = 'It says it is JSON and cannot be read as such; it is read as text.';
/** Of what is remembered of a request. */
const MAX_KEPT_BODY = 2_000;

/**
 * Sends a request and reads the answer, once. Nothing that is resolved is secret in it. Rejects only with the reason of `signal`; without
 * one the exchange ends with its own time limit.
 */
export async function exchange(
  built: BuiltRequest,
  { timeoutInMillis, maxResponseSizeInBytes }: HttpCall,
  fetch: StepTools['fetch'],
  signal?: AbortSignal,
): Promise<Answered | NotAnswered> {
  const { url, method, headers, body, hostFrom, secrets } = built;
  const scrub = createScrub(secrets);
  const request = keptRequest(built, scrub);
  try {
    const response = await fetch(url, {
      hostFrom,
      method,
      headers: marked(headers),
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
      // What a credential is sent for is one server's business.
      redirect: secrets.length > 0 ? 'error' : 'follow',
      limits: { totalMs: timeoutInMillis, maxBytes: maxResponseSizeInBytes },
    });
    const bytes = await response.arrayBuffer();
    return { ...readAnswer(response, bytes, scrub), request };
  } catch (thrown) {
    signal?.throwIfAborted();
    return { ...failureOf(thrown), request };
  }
}

/** What an author writes into the request does not take the mark away. */
function marked(headers: Headers): Headers {
  const sent = new Headers(headers);
  sent.set(CALLED_BY_HEADER, BY_AGENT);
  return sent;
}

/** What is kept of a request, and may be shown: no secret is in it. */
export function keptRequest(
  { url, method, headers, body, secrets }: BuiltRequest,
  scrub = createScrub(secrets),
): SentRequest {
  const text = body === undefined ? undefined : scrub.text(body);
  return {
    method,
    url: scrub.text(url.href),
    headers: scrub.headers(headers),
    ...(text !== undefined && {
      body: text.length > MAX_KEPT_BODY ? `${text.slice(0, MAX_KEPT_BODY)}...` : text,
    }),
  };
}

function readAnswer(response: Response, bytes: ArrayBuffer, scrub: Scrub): Answered {
  const { body, note } = readBody(response.headers.get('content-type') ?? '', bytes);
  return {
    kind: 'answered',
    status: response.status,
    headers: scrub.headers(response.headers),
    body: scrub.value(body),
    ...(note !== undefined && { note }),
  };
}

/** JSON where the answer says so and it is; text everywhere else, with what is no character of it replaced. */
function readBody(contentType: string, bytes: ArrayBuffer): { body: unknown; note?: string } {
  if (bytes.byteLength === 0) return { body: null };
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const text = decoderFor(parameters.join(';')).decode(bytes);
  if (!/[/+]json\s*$/.test(type)) return { body: text };
  const json = parseJson(text, { maxDepth: MAX_DEPTH });
  if (json.ok) return { body: json.value };
  return { body: text, note: NOT_JSON };
}

function decoderFor(parameters: string): InstanceType<typeof TextDecoder> {
  const [, charset = 'utf-8'] = /charset\s*=\s*"?([\w.:-]{1,40})/.exec(parameters) ?? [];
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

const FAILURES: Readonly<Record<FetchFailure, readonly [code: CallErrorCode, message: string]>> = {
  url: ['BAD_REQUEST', 'its address is none that can be called'],
  header: ['BAD_REQUEST', 'a header holds a character that no header may hold'],
  address: ['ADDRESS_REFUSED', 'its address is not there or may not be used'],
  connect: ['CONNECT_FAILED', 'no connection could be made'],
  redirect: ['REDIRECT_REFUSED', 'it was sent on to where it may not go'],
  timeout: ['TIMEOUT', 'it took too long; it may have arrived'],
  too_large: ['TOO_LARGE', 'the answer is larger than maxResponseSizeInBytes'],
  broken: ['CONNECTION_BROKEN', 'the connection broke; it may have arrived'],
};

function failureOf(thrown: unknown): NotAnswered {
  if (!(thrown instanceof PlatformError)) throw thrown;
  const { reason, sent } = thrown.details as { readonly reason: FetchFailure; readonly sent: boolean };
  const [code, message] = FAILURES[reason];
  return notAnswered(code, message, sent);
}
