import { promises as dns, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { getCACertificates } from 'node:tls';
import type { ErrorKind } from '@patchbay/contract/errors';
import { Agent, buildConnector, fetch as undiciFetch } from 'undici';
import { type Clock, systemClock } from './clock.ts';
import { PlatformError } from './errors.ts';
import { createNameLookup } from './name-lookup.ts';
import {
  type AddressClass,
  classifyAddress,
  classifyHost,
  isAddress,
  normalizeHost,
} from './network-address.ts';

/**
 * Who named the host: an operator, in configuration, or anything else (a user, a model, a document, another server's
 * answer, a redirect). Every caller has to say, because only an operator's host may be private (house rule 16).
 */
export type HostFrom = 'operator' | 'outside';

export interface FetchLimits {
  /** Until a connection stands, resolving the name included. */
  readonly connectMs: number;
  /** From the call to the last byte of the body, redirects included. `Infinity` for streams the caller ends. */
  readonly totalMs: number;
  /** Of the body as it is handed out, after decompression. */
  readonly maxBytes: number;
}

export const DEFAULT_FETCH_LIMITS: FetchLimits = {
  connectMs: 10_000,
  totalMs: 30_000,
  maxBytes: 10 * 1024 * 1024,
};

const MAX_REDIRECTS = 5;

/** Everything a redirect to another origin may carry. A credential may stand under any other name (W-72). */
const HEADERS_FOR_ANY_ORIGIN = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);
/** The connection's own business; a caller who sets them could speak to another virtual host than was checked. */
const HEADERS_NEVER_SENT = [
  'host',
  'connection',
  'proxy-authorization',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
];

/**
 * Why a request was not answered: `details.reason` of the error. `details.sent` is false when nothing of it can have
 * arrived anywhere, so that it may be repeated without asking.
 */
export type FetchFailure =
  | 'url'
  | 'header'
  | 'address'
  | 'connect'
  | 'redirect'
  | 'timeout'
  | 'too_large'
  | 'broken';

export interface SafeFetchOptions {
  /** All addresses of a name, asked once a connection. DNS of the machine unless given. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** May this host, named by an operator, be at a private address? Lower case, no brackets. */
  readonly allowPrivate: (host: string) => boolean;
  readonly limits?: Partial<FetchLimits>;
  /** Certificates (PEM) trusted besides the well-known ones. */
  readonly extraCa?: readonly string[];
  readonly clock?: Clock;
}

export interface SafeFetchInit {
  readonly hostFrom: HostFrom;
  readonly limits?: Partial<Pick<FetchLimits, 'totalMs' | 'maxBytes'>>;
  /** Told whenever something of the body has come. */
  readonly onBytes?: () => void;
}

export interface SafeFetch {
  /**
   * Like the standard `fetch`, with these differences: http and https only; each address, of each redirect too, is checked
   * before it is connected to; the environment's proxies are not used; a body is read whole before it is sent.
   * Rejects with a `PlatformError` that says nothing of what answered, or with the signal's reason when the caller aborts.
   */
  (url: string | URL, init: RequestInit & SafeFetchInit): Promise<Response>;
  /**
   * The same guard for one exchange over a socket, without what a standard `Response` costs: nothing is redirected, and the caller reads
   * the body and ends it by `signal`. Rejects as the function itself does.
   */
  request(url: URL, init: DirectRequest): Promise<DirectAnswer>;
  /** The same with the trust decision taken once: fits where a library wants a `fetch`. */
  with(init: SafeFetchInit): (url: string | URL, init?: RequestInit) => Promise<Response>;
  /**
   * Resolves when a request there would be let through now, and connects to nothing. Rejects with the error it would get. Says nothing about
   * later: each request is looked at again.
   */
  check(url: string | URL, init: Pick<SafeFetchInit, 'hostFrom'>): Promise<void>;
  /** Ends all connections. */
  close(): Promise<void>;
}

export interface DirectRequest {
  readonly hostFrom: HostFrom;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  /** Takes a certificate that nobody vouches for: one server's business, in its configuration. */
  readonly insecureTls: boolean;
}

export interface DirectAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable & { dump(): Promise<void> };
}

/**
 * Makes the one fetch for everything that goes out (attacks 30 to 34). The guard sits where connections are made: the name
 * is resolved once, every address it has is checked, and the socket goes to one of exactly these, so neither a second DNS
 * answer, nor a redirect, nor a spelling of an address gets past it.
 */
export function createSafeFetch(options: SafeFetchOptions): SafeFetch {
  const limits = { ...DEFAULT_FETCH_LIMITS, ...options.limits };
  const clock = options.clock ?? systemClock;
  const resolve = options.resolve ?? createNameLookup(resolveByDns);
  const ca = options.extraCa && [...getCACertificates('default'), ...options.extraCa];
  const agentFor = (trust: HostTrust, insecureTls = false) =>
    guardedAgent({ trust, resolve, connectMs: limits.connectMs, ca, insecureTls });
  // One pool each: a connection that an operator's word opened is never lent to a request that came from outside.
  const agents: Record<HostTrust, Agent> = {
    publicOnly: agentFor('publicOnly'),
    privateToo: agentFor('privateToo'),
  };
  // Apart from the others: a connection to nobody in particular is lent to nobody else.
  const insecureAgents: Record<HostTrust, Agent> = {
    publicOnly: agentFor('publicOnly', true),
    privateToo: agentFor('privateToo', true),
  };
  const trustIn = (hostFrom: HostFrom, host: string): HostTrust =>
    hostFrom === 'operator' && options.allowPrivate(normalizeHost(host)) ? 'privateToo' : 'publicOnly';

  const request = async (url: URL, init: DirectRequest): Promise<DirectAnswer> => {
    refuseProblem(url);
    const trust = trustIn(init.hostFrom, url.hostname);
    try {
      const { statusCode, headers, body } = await (init.insecureTls ? insecureAgents : agents)[trust].request(
        {
          origin: url.origin,
          path: url.pathname + url.search,
          method: init.method,
          headers: sendable(init.headers),
          body: init.body ?? null,
          signal: init.signal,
        },
      );
      return { status: statusCode, headers, body };
    } catch (thrown) {
      throw init.signal.aborted ? init.signal.reason : explain(thrown, url, init.hostFrom, false);
    }
  };

  const check = async (input: string | URL, { hostFrom }: Pick<SafeFetchInit, 'hostFrom'>): Promise<void> => {
    const url = parseTarget(input);
    const trust = trustIn(hostFrom, url.hostname);
    try {
      if (!mayConnect(classifyHost(url.hostname), trust)) throw addressRefusal(url.hostname);
      if (!isAddress(url.hostname)) await checkedAddresses(url.hostname, trust, resolve);
    } catch (thrown) {
      throw explain(thrown, url, hostFrom, false);
    }
  };

  const safeFetch = async (input: string | URL, init: RequestInit & SafeFetchInit): Promise<Response> => {
    const first = parseTarget(input);
    const { totalMs, maxBytes } = { ...limits, ...init.limits };
    let request = await firstRequest(first, init);
    const deadline = new Deadline(clock, totalMs, init.signal ?? undefined);
    const failed = (thrown: unknown, sent: boolean) => {
      deadline.clear();
      if (init.signal?.aborted) return init.signal.reason;
      return explain(thrown, first, init.hostFrom, sent);
    };
    let sent = false;
    try {
      for (let redirects = 0; ; redirects++) {
        const trust = trustIn(
          request.url.origin === first.origin ? init.hostFrom : 'outside',
          first.hostname,
        );
        const response = await undiciFetch(request.url, {
          method: request.method,
          headers: [...request.headers],
          body: request.body ?? null,
          redirect: 'manual',
          signal: deadline.signal,
          dispatcher: agents[trust],
        });
        sent = true;
        const location = response.headers.get('location');
        if (location === null || !REDIRECTS.has(response.status) || init.redirect === 'manual') {
          return boundedResponse(response, {
            ...{ url: request.url, redirected: redirects > 0, maxBytes, deadline },
            onBytes: init.onBytes,
            failed: thrown => failed(thrown, true),
          });
        }
        await response.body?.cancel();
        if (init.redirect === 'error')
          throw new Refusal('redirect', 'it redirects, and the request does not allow that');
        if (redirects === MAX_REDIRECTS) {
          throw new Refusal('redirect', `it redirects more than ${MAX_REDIRECTS} times`);
        }
        request = redirected(request, response.status, location);
      }
    } catch (thrown) {
      throw failed(thrown, sent);
    }
  };

  return Object.assign(safeFetch, {
    request,
    check,
    with:
      (bound: SafeFetchInit) =>
      (url: string | URL, init: RequestInit = {}) =>
        safeFetch(url, { ...init, ...bound }),
    close: async () => {
      const all = [...Object.values(agents), ...Object.values(insecureAgents)];
      await Promise.all(all.map(agent => agent.destroy()));
    },
  });
}

type HostTrust = 'publicOnly' | 'privateToo';

function mayConnect(found: AddressClass, trust: HostTrust): boolean {
  return found === 'public' || (found === 'private' && trust === 'privateToo');
}

/** Inside here a refusal is thrown as this; `explain` makes the caller's error of it. */
class Refusal extends Error {
  readonly failure: FetchFailure;
  readonly kind: 'invalid' | 'unavailable';
  /** `why` follows "<url> can't be reached: ". */
  constructor(
    failure: FetchFailure,
    why: string,
    kind: 'invalid' | 'unavailable' = 'invalid',
    cause?: unknown,
  ) {
    super(why, { cause });
    this.name = 'Refusal';
    this.failure = failure;
    this.kind = kind;
  }
}

async function resolveByDns(host: string): Promise<readonly string[]> {
  const found: LookupAddress[] = await dns.lookup(host, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
}

/** Errors that came before the first byte of a request. What they are called says nothing: a server can break TLS behind a request in the same words. */
const connectFailures = new WeakSet<Error>();

function guardedAgent(guard: {
  readonly trust: HostTrust;
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly connectMs: number;
  readonly ca: readonly string[] | undefined;
  readonly insecureTls: boolean;
}): Agent {
  // The socket asks this exactly once and connects to what it is given: there is no second look-up to rebind.
  const lookup: LookupFunction = (hostname, { all }, callback) => {
    checkedAddresses(hostname, guard.trust, guard.resolve).then(
      addresses => {
        if (all) callback(null, addresses);
        else callback(null, addresses[0]!.address, addresses[0]!.family);
      },
      error => callback(error, []),
    );
  };
  const connect = buildConnector({
    lookup,
    autoSelectFamily: true,
    timeout: guard.connectMs,
    allowH2: false,
    ...(guard.ca && { ca: [...guard.ca] }),
    rejectUnauthorized: !guard.insecureTls,
  });
  return new Agent({
    connect: (target, callback) => {
      // A literal address is never looked up, and some names need no look-up to be refused.
      if (!mayConnect(classifyHost(target.hostname), guard.trust)) {
        return callback(addressRefusal(target.hostname), null);
      }
      const name = normalizeHost(target.hostname);
      // Without the trailing dot, which SNI does not allow.
      connect(isAddress(name) ? target : { ...target, servername: name }, (...made) => {
        if (made[0]) connectFailures.add(made[0]);
        callback(...made);
      });
    },
    // The total limit and the caller's signal end a request; a quiet stream is no failure.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

async function checkedAddresses(
  hostname: string,
  trust: HostTrust,
  resolve: (host: string) => Promise<readonly string[]>,
): Promise<LookupAddress[]> {
  const host = normalizeHost(hostname);
  const addresses = await resolve(host).catch(cause => {
    throw new Refusal('address', `${host} has no address`, 'unavailable', cause);
  });
  if (addresses.length === 0) throw new Refusal('address', `${host} has no address`, 'unavailable');
  // One bad address is enough: which of them the socket takes is not ours to say.
  if (!addresses.every(address => mayConnect(classifyAddress(address), trust)))
    throw addressRefusal(hostname);
  return addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }));
}

function addressRefusal(hostname: string): Refusal {
  const host = normalizeHost(hostname);
  if (!isAddress(host)) return new Refusal('address', `${host} is at a private address`);
  const kind = classifyHost(host) === 'private' ? 'a private' : 'a reserved';
  return new Refusal('address', `${host} is ${kind} address`);
}

function parseTarget(input: string | URL): URL {
  const url = URL.parse(String(input));
  if (!url) {
    throw new PlatformError(
      'invalid',
      'The address to fetch is not a URL; give one like https://host/path.',
      {
        details: { reason: 'url', sent: false },
      },
    );
  }
  refuseProblem(url);
  return url;
}

function refuseProblem(url: URL): void {
  const problem = targetProblem(url);
  if (!problem) return;
  throw new PlatformError('invalid', `${shown(url)} can't be reached: ${problem}`, {
    details: { reason: 'url', sent: false },
  });
}

function targetProblem(url: URL): string | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return 'only http and https addresses are fetched';
  if (url.username !== '' || url.password !== '') {
    return 'a user name or password in a URL is not sent; use a header or a credential';
  }
  return undefined;
}

interface OutRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | Uint8Array | undefined;
}

function sendable(headers: Readonly<Record<string, string>>): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const name in headers) {
    if (!HEADERS_NEVER_SENT.includes(name.toLowerCase())) sent[name] = headers[name]!;
  }
  return sent;
}

async function firstRequest(url: URL, init: RequestInit): Promise<OutRequest> {
  const headers = new Headers(init.headers);
  for (const name of HEADERS_NEVER_SENT) headers.delete(name);
  const method = (init.method ?? 'GET').toUpperCase();
  if (init.body === undefined || init.body === null) return { url, method, headers, body: undefined };
  if (typeof init.body === 'string') return { url, method, headers, body: init.body };
  // undici knows the platform's FormData and Blob only by its own classes; as bytes every kind of body is the same.
  const whole = new Response(init.body);
  const type = whole.headers.get('content-type');
  if (type !== null && !headers.has('content-type')) headers.set('content-type', type);
  return { url, method, headers, body: new Uint8Array(await whole.arrayBuffer()) };
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

function redirected(request: OutRequest, status: number, location: string): OutRequest {
  const url = URL.parse(location, request.url.href);
  if (!url || targetProblem(url))
    throw new Refusal('redirect', 'it redirects to something that is not fetched');
  if (request.url.protocol === 'https:' && url.protocol === 'http:') {
    throw new Refusal('redirect', 'it redirects from https to http');
  }
  const sameOrigin = url.origin === request.url.origin;
  const headers = new Headers(request.headers);
  if (!sameOrigin) {
    for (const name of [...headers.keys()]) if (!HEADERS_FOR_ANY_ORIGIN.has(name)) headers.delete(name);
  }
  const becomesGet =
    (status === 303 && request.method !== 'HEAD') ||
    ((status === 301 || status === 302) && request.method === 'POST');
  if (becomesGet) {
    for (const name of [...headers.keys()]) if (name.startsWith('content-')) headers.delete(name);
    return { url, method: 'GET', headers, body: undefined };
  }
  // A body may hold what the headers hold: a client secret, a code, a tool's arguments.
  if (!sameOrigin && request.body !== undefined) {
    throw new Refusal(
      'redirect',
      'it redirects to another origin, where the body is not sent; use the new address',
    );
  }
  return { ...request, url, headers };
}

type UndiciResponse = Awaited<ReturnType<typeof undiciFetch>>;

/** A standard `Response` (libraries test for the class) whose body counts its bytes and keeps the time limit until its end. */
function boundedResponse(
  response: UndiciResponse,
  bounds: {
    readonly url: URL;
    readonly redirected: boolean;
    readonly maxBytes: number;
    readonly deadline: Deadline;
    readonly onBytes: (() => void) | undefined;
    readonly failed: (thrown: unknown) => unknown;
  },
): Response {
  const { url, redirected, maxBytes, deadline, onBytes, failed } = bounds;
  const announced = Number(response.headers.get('content-length') ?? 0);
  if (response.body && announced > maxBytes) {
    void response.body.cancel().catch(() => undefined);
    throw tooLarge(maxBytes);
  }
  const source = response.body?.getReader();
  if (!source) deadline.clear();
  let bytes = 0;
  const body =
    source &&
    new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await source.read();
          if (done) {
            deadline.clear();
            return controller.close();
          }
          onBytes?.();
          bytes += value.byteLength;
          if (bytes > maxBytes) throw tooLarge(maxBytes);
          controller.enqueue(value);
        } catch (thrown) {
          controller.error(failed(thrown));
          await source.cancel().catch(() => undefined);
        }
      },
      async cancel(reason) {
        deadline.clear();
        await source.cancel(reason);
      },
    });
  const { status, statusText } = response;
  const answer = new Response(body ?? null, { status, statusText, headers: [...response.headers] });
  Object.defineProperties(answer, { url: { value: url.href }, redirected: { value: redirected } });
  return answer;
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal('too_large', `its answer is larger than ${maxBytes} bytes`, 'unavailable');
}

class TimeIsUp extends Error {}

/** The time limit of one call joined with the caller's signal. */
class Deadline {
  readonly signal: AbortSignal;
  private readonly cleared = new AbortController();

  constructor(clock: Clock, totalMs: number, outer: AbortSignal | undefined) {
    const timeUp = new AbortController();
    const isLimited = Number.isFinite(totalMs);
    this.signal = outer && isLimited ? AbortSignal.any([outer, timeUp.signal]) : (outer ?? timeUp.signal);
    if (!isLimited) return;
    clock.sleep(totalMs, this.cleared.signal).then(
      () => timeUp.abort(new TimeIsUp(`no answer within ${totalMs} ms`)),
      () => undefined,
    );
  }

  clear(): void {
    this.cleared.abort(CLEARED);
  }
}

/** Nobody reads it, and an error would be made for each request. */
const CLEARED = Symbol('cleared');

/** Without query and fragment, where secrets travel. */
function shown(url: URL): string {
  return url.protocol === 'http:' || url.protocol === 'https:'
    ? `${url.origin}${url.pathname}`
    : url.protocol;
}

/** The caller's error. It names the address as it was given, never what it led to; the rest is the cause, for the log. */
function explain(thrown: unknown, url: URL, hostFrom: HostFrom, sent: boolean): PlatformError {
  const chain = causes(thrown);
  const because = (kind: ErrorKind, reason: FetchFailure, why: string, arrived = sent) =>
    new PlatformError(kind, `${shown(url)} can't be reached: ${why}`, {
      cause: thrown,
      details: { reason, sent: arrived },
    });
  const host = normalizeHost(url.hostname);
  const refusal = chain.find(error => error instanceof Refusal);
  if (refusal) {
    if (refusal.failure !== 'address') return because(refusal.kind, refusal.failure, refusal.message);
    if (sent) return because('invalid', 'redirect', 'it redirects to an address that may not be used');
    // Which names exist inside the network is nothing an outsider may find out: unknown and private read the same.
    return hostFrom === 'outside' && !isAddress(host)
      ? because('invalid', 'address', `${host} has no public address`)
      : because(refusal.kind, 'address', refusal.message);
  }
  if (chain.some(error => error.message === 'bad port')) {
    return because('invalid', 'url', 'that port is not one for HTTP');
  }
  if (chain.some(error => 'code' in error && error.code === 'UND_ERR_INVALID_ARG')) {
    return because(
      'invalid',
      'header',
      'a header of the request holds a character that no header may hold',
      false,
    );
  }
  if (chain.some(error => error instanceof TimeIsUp))
    return because('timeout', 'timeout', 'it took too long', true);
  if (!sent && chain.some(error => connectFailures.has(error)))
    return because('unavailable', 'connect', 'no connection could be made');
  return because('unavailable', 'broken', 'the connection broke', true);
}

function causes(thrown: unknown): Error[] {
  const chain: Error[] = [];
  for (let error = thrown; error instanceof Error && chain.length < 8; error = error.cause) chain.push(error);
  return chain;
}
