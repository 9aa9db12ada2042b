import type { Clock } from '../../kernel/clock.ts';
import { isObject } from '../../kernel/json.ts';
import type { Logger } from '../../kernel/logger.ts';
import { mirroredArguments } from '../tool/mirrored-arguments.ts';
import { backoffMs } from './backoff.ts';
import { SessionError, SignInNeeded, sessionError } from './failure.ts';
import { headerValue } from './http/header-value.ts';
import { HttpRefusal, isUnknownSender } from './http/http-refusal.ts';
import { listTools } from './list-tools.ts';
import type { ServerFacts, Session } from './session.ts';
import { orAborted, timeLimit } from './time-limit.ts';
import { type ToolWatch, watchTools } from './watch-tools.ts';
import type { Members, Progress } from './wire.ts';

/** Failures that count as one trouble of the server, and how many of them are too many (EX-04). */
const TROUBLE_MS = 60_000;
const TOO_MANY_FAILURES = 3;
const UNSUPPORTED_VERSION = -32022;
/** The headers do not repeat what the server expects of its tool: it has changed it, and has executed nothing (mcp.md 1.2). */
const HEADER_MISMATCH = -32020;
/** How long a request that never arrived waits for a server that restarts, and how often it is tried. */
const HEAL_MS = 5_000;
const MAX_TRIES = 4;
const PROBE_MS = 5_000;
/** Notifications kept while it connects. */
const MAX_EARLY = 10;
/** Statuses with which servers refuse what they do not take for a message of theirs, besides 404 for a session (2025-11-25, Transports). */
const NOT_UNDERSTOOD = new Set([400, 404, 405, 406, 415, 422]);
const NOT_FOUND = 404;

/** Takes secrets out of a text. */
type Scrub = (text: string) => string;

export interface Trouble {
  readonly error: SessionError;
  /** Epoch ms. */
  readonly at: number;
  /** Tries that failed since it was last connected. */
  readonly failures: number;
  readonly retryAt: number;
}

export interface CallRequest {
  readonly method: string;
  readonly params: Members;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Milliseconds for everything: connecting where that is needed, and the answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Called each time before it is sent, when the list is that of the session it goes to: what it throws ends the request. */
  readonly beforeSend?: (() => void) | undefined;
}

/**
 * A server that is reached as one endpoint: connected when somebody needs it, kept connected while somebody wants it, and connected again
 * after everything that can happen to it. It never sends a request twice that may have arrived.
 */
export interface Connection {
  /** What the open session is about; `undefined` without one. */
  readonly facts: ServerFacts | undefined;
  /** Set while it is down. */
  readonly trouble: Trouble | undefined;
  /** As listed last, also while it is down; `undefined` before the first time. Raw: nothing of it is believed. */
  readonly listed: readonly unknown[] | undefined;
  /** Arguments go out as headers too, where a tool wants that: one that wants it wrongly must not be offered (mcp.md 1.2). */
  readonly mirrorsArguments: boolean;
  /** Requests that wait for an answer. */
  readonly inFlight: number;
  /** Epoch ms of the last request. */
  readonly usedAt: number;
  /** Takes what its credential has shown of late out of a text; `undefined` without one that tells. */
  readonly scrub: Scrub | undefined;
  /** Connects if it is not, without waiting longer than the endpoint's time limit. Rejects with a `SessionError`, at once while the next try is not due. */
  ready(signal?: AbortSignal): Promise<void>;
  /** Resolves with the result as it came; rejects with a `SessionError`, or with the signal's reason. */
  request(request: CallRequest): Promise<Members>;
  /** Keeps it connected from now on: tried again without end (W-12). */
  keep(): void;
  readonly kept: boolean;
  /** Told when it went up or down, or its list was read. Returns how to stop that. */
  subscribe(listener: () => void): () => void;
  /** Takes no more requests; closed when those under way have ended, and resolves then. */
  retire(): Promise<void>;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly connectTimeoutMs: number;
  readonly scrub: Scrub | undefined;
  /** Messages have headers, so that arguments can be repeated in them. */
  readonly hasHeaders: boolean;
  /** Opens a session; asked anew for every try, so that what is checked is checked each time (W-63). */
  readonly open: (hooks: {
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    readonly onNotification: (method: string, params: Members) => void;
    readonly onClose: (reason: SessionError | undefined) => void;
  }) => Promise<Session>;
  /** The era that was believed was wrong. */
  readonly onWrongEra: () => void;
}

interface Open {
  readonly session: Session;
  readonly since: number;
  readonly tools: ToolWatch;
  requests: number;
  /** Whether it refuses everything, once that was asked; the same for all who want to know. */
  refusal: Promise<boolean> | undefined;
  /** Ended when it is no longer used for new requests; closed when the last one has ended. */
  readonly life: AbortController;
}

export function createConnection(options: ConnectionOptions): Connection {
  const { clock, random, logger, connectTimeoutMs, hasHeaders } = options;
  const listeners = new Set<() => void>();
  const closed = new AbortController();
  let current: Open | undefined;
  let connecting: Promise<Open> | undefined;
  let listed: readonly unknown[] | undefined;
  let schemas:
    | { readonly listed: readonly unknown[]; readonly byName: ReadonlyMap<unknown, unknown> }
    | undefined;
  let trouble: Trouble | undefined;
  /** Of tries, and of sessions that did not last; cleared by one that did. */
  let failures = 0;
  let kept = false;
  let usedAt = clock.now();
  let inFlight = 0;
  const retiring = Promise.withResolvers<void>();
  let isRetired = false;
  let recent: number[] = [];
  let retrying = false;
  /** Sessions, also those that only wait for their last answers. */
  const sessions = new Set<Session>();
  const closing = new Set<Promise<void>>();

  function onChange(): void {
    for (const listener of listeners) listener();
  }

  async function connect(): Promise<Open> {
    const limit = timeLimit(
      clock,
      connectTimeoutMs,
      () => new SessionError('SERVER_UNAVAILABLE', 'no', `it did not connect within ${connectTimeoutMs} ms`),
      closed.signal,
    );
    const { signal } = limit;
    const heard: string[] = [];
    let hear = (method: string): void => {
      if (heard.length < MAX_EARLY) heard.push(method);
    };
    let session: Session | undefined;
    let ended: { readonly reason: SessionError | undefined } | undefined;
    try {
      session = await options.open({
        timeoutMs: connectTimeoutMs,
        signal,
        onNotification: method => hear(method),
        onClose: reason => {
          ended = { reason };
          if (current && current.session === session) sessionEnded(current, reason);
        },
      });
      sessions.add(session);
      const found = await listTools(session, { timeoutMs: connectTimeoutMs, clock, signal });
      if (ended) throw ended.reason ?? new SessionError('TRANSPORT_ERROR', 'unknown', 'the connection ended');
      signal.throwIfAborted();
      listed = found;
      current = opened(session);
      hear = current.tools.heard;
      for (const method of heard) hear(method);
      if (trouble) logger.info('An MCP server is up again', { failures: trouble.failures });
      trouble = undefined;
      recent = [];
      onChange();
      return current;
    } catch (thrown) {
      if (session) closeSession(session);
      const error = signal.aborted ? signal.reason : sessionError(thrown);
      if (!closed.signal.aborted) down(error);
      throw error;
    } finally {
      limit.clear();
    }
  }

  function opened(session: Session): Open {
    const life = new AbortController();
    const open: Open = {
      session,
      since: clock.now(),
      requests: 0,
      refusal: undefined,
      life,
      tools: watchTools({
        ...{ session, clock, random, timeoutMs: connectTimeoutMs, signal: life.signal },
        onListed: tools => {
          listed = tools;
          onChange();
        },
        onFailure: error => void listingFailed(open, error),
      }),
    };
    return open;
  }

  async function listingFailed(open: Open, error: SessionError): Promise<void> {
    // One that does not say in time what it has would not answer a call either.
    if (error.kind === 'TIMEOUT') giveUp(open, error);
    else failed(open, error);
    if (current !== open) return;
    if (!(await isStranger(open, error))) {
      logger.warn('The tools of an MCP server could not be listed again', { reason: error.message });
    } else if (kept) await session().catch(() => undefined);
  }

  function closeSession(session: Session): void {
    sessions.delete(session);
    const end = session.close().finally(() => closing.delete(end));
    closing.add(end);
  }

  function down(error: SessionError): void {
    failures += 1;
    const at = clock.now();
    // It may be tried for months: what is no news is not said again.
    if (trouble?.error.message !== error.message)
      logger.warn('An MCP server is down', { kind: error.kind, reason: error.message });
    trouble = { error, at, failures, retryAt: at + backoffMs(failures, random) };
    onChange();
    void retry();
  }

  /** Tries again as long as somebody wants it. */
  async function retry(): Promise<void> {
    if (retrying || !kept) return;
    retrying = true;
    try {
      while (kept && trouble && !closed.signal.aborted) {
        await clock.sleep(Math.max(0, trouble.retryAt - clock.now()), closed.signal);
        if (trouble && !current) await session().catch(() => undefined);
      }
    } catch {
      // Closed while it waited.
    } finally {
      retrying = false;
    }
  }

  function sessionEnded(open: Open, reason: SessionError | undefined): void {
    if (current !== open) return;
    retire(open);
    if (closed.signal.aborted) return;
    lasted(open);
    down(reason ?? new SessionError('TRANSPORT_ERROR', 'unknown', 'the connection ended'));
  }

  /** A session that held longer than the pause before it clears what went before. */
  function lasted({ since }: Open): void {
    if (clock.now() - since >= backoffMs(failures + 1, () => 0)) failures = 0;
  }

  /** The session there is, or a new one; every caller waits for the same. Rejects with what that means for a request that needed it. */
  async function session(): Promise<Open> {
    if (closed.signal.aborted) throw closed.signal.reason;
    if (current) return current;
    if (!connecting && trouble && trouble.retryAt > clock.now()) throw notConnected(trouble.error);
    connecting ??= connect().finally(() => {
      connecting = undefined;
    });
    return connecting.catch(error => {
      throw closed.signal.aborted ? closed.signal.reason : notConnected(error);
    });
  }

  /** Giving up waiting is the caller's own. */
  async function sessionWithin(waitMs: number, signal: AbortSignal | undefined): Promise<Open> {
    const late = () =>
      new SessionError('SERVER_UNAVAILABLE', 'no', `it did not connect within ${Math.round(waitMs)} ms`);
    const limit = timeLimit(clock, waitMs, late, signal);
    try {
      return await orAborted(session(), limit.signal);
    } finally {
      limit.clear();
    }
  }

  function failed(open: Open, error: SessionError): void {
    if (isForgotten(error)) return;
    if (error.kind === 'SERVER_UNAVAILABLE' || isTooMany(error)) giveUp(open, error);
  }

  /** The circuit breaker: trouble after trouble is a server that is down, whatever its connection says (EX-04). */
  function isTooMany({ kind }: SessionError): boolean {
    if (kind !== 'TIMEOUT' && kind !== 'TRANSPORT_ERROR') return false;
    const now = clock.now();
    recent = [...recent.filter(at => at > now - TROUBLE_MS), now];
    return recent.length >= TOO_MANY_FAILURES;
  }

  function giveUp(open: Open, error: SessionError): void {
    if (current !== open) return;
    lasted(open);
    retire(open);
    down(error);
  }

  function retire(open: Open): void {
    if (current === open) current = undefined;
    open.life.abort();
    if (open.requests === 0) closeSession(open.session);
  }

  async function exchange(open: Open, request: CallRequest, until: number): Promise<Members> {
    open.requests += 1;
    try {
      const result = await open.session.request(request.method, request.params, {
        ...request,
        timeoutMs: Math.max(1, until - clock.now()),
        headers: headersOf(open, request),
      });
      recent = [];
      return result;
    } catch (error) {
      if (error instanceof SessionError) failed(open, error);
      throw error;
    } finally {
      open.requests -= 1;
      if (open.life.signal.aborted && open.requests === 0) closeSession(open.session);
    }
  }

  /**
   * Whether the server refused a message because it does not know us, and so has not executed it: it has forgotten the session, or speaks
   * another era by now. The next message goes out on a new session then.
   */
  async function isStranger(open: Open, error: SessionError): Promise<boolean> {
    if (refusesVersion(error)) options.onWrongEra();
    else if (!isForgotten(error)) {
      if (error.status === undefined || !NOT_UNDERSTOOD.has(error.status)) return false;
      if (error.status !== NOT_FOUND && !isUnknownSender(error.code)) return false;
      return open.session.facts.era === 'legacy' ? refusesAll(open) : speaksOlder(open, error);
    }
    retire(open);
    return true;
  }

  /**
   * Servers that do not know a session are meant to answer 404, and many answer 400: then they refuse everything on it, also what they took before.
   * That is their list of tools: not every server knows `ping`.
   */
  function refusesAll(open: Open): Promise<boolean> {
    const method = 'tools' in open.session.facts.capabilities ? 'tools/list' : 'ping';
    open.refusal ??= open.session
      .request(method, {}, { timeoutMs: PROBE_MS })
      .then(
        () => undefined,
        thrown => sessionError(thrown),
      )
      .then(error => {
        const refused =
          isForgotten(error) || (NOT_UNDERSTOOD.has(error?.status ?? 0) && isUnknownSender(error?.code));
        if (refused) {
          options.onWrongEra();
          retire(open);
        } else open.refusal = undefined;
        return refused;
      });
    return open.refusal;
  }

  async function speaksOlder(open: Open, { code }: SessionError): Promise<boolean> {
    if (!isUnknownSender(code)) return false;
    options.onWrongEra();
    retire(open);
    const now = await session().catch(() => undefined);
    return now !== undefined && now.session.facts.era !== open.session.facts.era;
  }

  function mirrors({ session }: Open): boolean {
    return hasHeaders && session.facts.era === 'modern';
  }

  /** What the list says that the tool takes; of two tools with one name the first counts. */
  function schemaOf(name: unknown): Members | undefined {
    if (listed && schemas?.listed !== listed) {
      const tools = listed.filter(isObject).toReversed();
      schemas = { listed, byName: new Map(tools.map(tool => [tool.name, tool.inputSchema])) };
    }
    const schema = schemas?.byName.get(name);
    return isObject(schema) ? schema : undefined;
  }

  function headersOf(open: Open, { method, params, headers }: CallRequest): CallRequest['headers'] {
    if (method !== 'tools/call' || !mirrors(open) || !isObject(params.arguments)) return headers;
    const schema = schemaOf(params.name);
    const mirrored = schema ? Object.entries(mirroredArguments(schema, params.arguments)) : [];
    if (mirrored.length === 0) return headers;
    return { ...headers, ...Object.fromEntries(mirrored.map(([name, value]) => [name, headerValue(value)])) };
  }

  /** Waits for a server that has only just gone to come back; one that stays away is not waited for. */
  async function healed(until: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (clock.now() >= until) return false;
    if (current || !trouble) return true;
    const { retryAt } = trouble;
    if (trouble.failures > MAX_TRIES || retryAt >= until) return false;
    await clock.sleep(Math.max(0, retryAt - clock.now()), signal);
    return true;
  }

  /** Sent again is only what provably was not executed: each way of that once, and waiting for a server as long as that makes sense. */
  async function requestHealed(request: CallRequest, until: number): Promise<Members> {
    const { signal } = request;
    const healUntil = Math.min(until, clock.now() + HEAL_MS);
    let wasStranger = false;
    let listedAgain = false;
    for (let tries = 1; ; tries++) {
      let open = current;
      try {
        open ??= await sessionWithin(until - clock.now(), signal);
        request.beforeSend?.();
        return await exchange(open, request, until);
      } catch (error) {
        if (!(error instanceof SessionError)) throw error;
        if (open && !listedAgain && mirrors(open) && isHeaderMismatch(error)) {
          listedAgain = true;
          await orAborted(open.tools.readNow(), signal);
        } else if (open && !wasStranger && (await orAborted(isStranger(open, error), signal))) {
          wasStranger = true;
        } else if (tries === MAX_TRIES || !isUnsent(error) || !(await healed(healUntil, signal))) throw error;
      }
    }
  }

  async function close(): Promise<void> {
    if (!closed.signal.aborted) {
      closed.abort(new SessionError('INTERRUPTED', 'unknown', 'the connection was closed'));
      if (current) retire(current);
      for (const open of sessions) closeSession(open);
    }
    await connecting?.catch(() => undefined);
    await Promise.all(closing);
  }

  return {
    get facts() {
      return current?.session.facts;
    },
    get trouble() {
      return current ? undefined : trouble;
    },
    get listed() {
      return listed;
    },
    get mirrorsArguments() {
      return current !== undefined && mirrors(current);
    },
    get inFlight() {
      return inFlight;
    },
    get usedAt() {
      return usedAt;
    },
    scrub: options.scrub,

    async ready(signal) {
      await orAborted(session(), signal);
    },

    async request(request) {
      if (isRetired) throw new SessionError('INTERRUPTED', 'no', 'the connection was closed');
      inFlight += 1;
      usedAt = clock.now();
      try {
        return await requestHealed(request, usedAt + request.timeoutMs);
      } finally {
        inFlight -= 1;
        usedAt = clock.now();
        if (isRetired && inFlight === 0) retiring.resolve();
      }
    },

    get kept() {
      return kept;
    },

    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

    keep() {
      if (kept) return;
      kept = true;
      if (trouble) void retry();
      else void session().catch(() => undefined);
    },

    async retire() {
      isRetired = true;
      if (inFlight > 0) await retiring.promise;
      await close();
    },

    close,
  };
}

/** What it means for a request that there was no connection for it: it was not sent. */
function notConnected(cause: SessionError): SessionError {
  if (cause instanceof SignInNeeded) return cause;
  const { kind, code, message } = cause;
  if (kind === 'AUTHENTICATION_FAILED') return new SessionError(kind, 'no', message, { cause });
  return code === UNSUPPORTED_VERSION
    ? new SessionError('PROTOCOL_ERROR', 'yes', message, { cause })
    : new SessionError('SERVER_UNAVAILABLE', 'no', message, { cause });
}

/** The server no longer knows the session, and is there. */
function isForgotten(error: unknown): boolean {
  return error instanceof HttpRefusal && error.sessionGone;
}

/** Nothing of it was written. */
function isUnsent(error: SessionError): boolean {
  return error.kind === 'SERVER_UNAVAILABLE' && error.reached === 'no' && !isForgotten(error);
}

/** Servers check that before they execute anything, and refuse with this status (2026-07-28, Transports). */
function isHeaderMismatch({ code, status }: SessionError): boolean {
  return code === HEADER_MISMATCH && status === 400;
}

/** Whoever refuses a version says which there are; without that the code is one of the server's own. */
function refusesVersion({ code, cause }: SessionError): boolean {
  if (code !== UNSUPPORTED_VERSION || !isObject(cause)) return false;
  return Array.isArray(cause.supported);
}
