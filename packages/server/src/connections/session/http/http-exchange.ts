import type { DirectAnswer, SafeFetch } from '../../../kernel/safe-fetch.ts';
import type { Credential, CredentialAnswer, CredentialTarget } from '../../credential/credential.ts';
import type { HttpEndpoint } from '../endpoint.ts';
import { SessionError, sessionError } from '../failure.ts';
import { HttpRefusal } from './http-refusal.ts';
import { readText } from './read-text.ts';

/** Of an answer that is an error. */
const MAX_ERROR_BYTES = 64 * 1024;
const MAX_REDIRECTS = 3;
/** A credential may be renewed and its scopes widened; a server that never has enough is refused. */
const MAX_REFUSALS = 4;

export interface HttpRequest {
  readonly method: CredentialTarget['method'];
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  /** A 404 means that the server no longer knows the session. */
  readonly inSession: boolean;
}

/** One exchange with an endpoint. Rejects with a `SessionError`, an `HttpRefusal` where the status is one, or the reason of the signal. */
export type HttpExchange = (request: HttpRequest) => Promise<DirectAnswer>;

/**
 * Exchanges that carry the endpoint's headers and credential. Sent again are only requests that were refused before they were executed: with a
 * credential that was renewed, and to where a redirect of the same origin points.
 */
export function createHttpExchange(parts: {
  readonly endpoint: HttpEndpoint;
  readonly credential: Credential | undefined;
  readonly fetch: SafeFetch;
}): HttpExchange {
  const { endpoint, credential, fetch } = parts;
  // In lower case like all others: of two with the same name the later one counts, and not both.
  const fixed = Object.fromEntries(
    Object.entries(endpoint.headers).map(([name, value]) => [name.toLowerCase(), value]),
  );

  async function once(
    { method, headers, body, signal }: HttpRequest,
    url: URL,
    shown: CredentialAnswer['shown'],
  ): Promise<DirectAnswer> {
    try {
      return await fetch.request(url, {
        hostFrom: endpoint.hostFrom,
        insecureTls: endpoint.insecureTls,
        method,
        headers: { ...fixed, ...headers, ...shown },
        body,
        signal,
      });
    } catch (thrown) {
      throw signal.aborted ? signal.reason : sessionError(thrown);
    }
  }

  return async request => {
    let { url } = request;
    for (let redirects = 0, refusals = 0; ; ) {
      const shown = (await credential?.headers({ method: request.method, url })) ?? {};
      const answer = await once(request, url, shown);
      const { status, headers } = answer;
      credential?.answered?.({ status, headers, shown });
      if (status >= 200 && status < 300) return answer;
      const moved = movedTo(answer, url);
      if (moved && redirects++ < MAX_REDIRECTS) {
        letGo(answer);
        url = moved;
        continue;
      }
      const text = await readText(answer.body, { maxBytes: MAX_ERROR_BYTES, tooLarge }).catch(() => '');
      if (
        (status === 401 || status === 403) &&
        credential &&
        refusals++ < (credential.refusals ?? MAX_REFUSALS)
      ) {
        if (await credential.refused({ status, headers, shown })) continue;
      }
      throw new HttpRefusal(status, text, request.inSession);
    }
  };
}

/** A header that is there once, or the first of them. */
export function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

export function mediaType({ headers }: DirectAnswer): string {
  return (one(headers['content-type']) ?? '').split(';')[0]!.trim().toLowerCase();
}

/** Lets go of a body that nobody reads, without waiting for it. */
export function letGo({ body }: DirectAnswer): void {
  void body.dump().catch(() => undefined);
}

/** A redirect that keeps method and body and stays with the origin; any other is an answer like another error (attack 32). */
function movedTo(answer: DirectAnswer, from: URL): URL | undefined {
  if (answer.status !== 307 && answer.status !== 308) return undefined;
  const url = URL.parse(one(answer.headers.location) ?? '', from.href);
  return url && url.origin === from.origin ? url : undefined;
}

function tooLarge(): Error {
  return new SessionError('PROTOCOL_ERROR', 'yes', 'its answer is too large');
}
