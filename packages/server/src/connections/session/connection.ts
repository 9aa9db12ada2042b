import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import { mirroredArguments } from '../tool/mirrored-arguments.ts';
import { backoffMs } from './backoff.ts';
import { SessionError, sessionError } from './failure.ts';
import { headerValue } from './http/header-value.ts';
import { HttpRefusal } from './http/http-refusal.ts';
import { listTools } from './list-tools.ts';
import type { ServerFacts, Session } from './session.ts';
import { isMembers, type Members, type Progress } from './wire.ts';

/** Without an announcement a list is read again so often (C30). */
const RELIST_MS = 300_000;
/** Announcements that come together are one. */
const SETTLE_MS = 200;
/** Failures that count as one trouble of the server, and how many of them are too many (EX-04). */
const TROUBLE_MS = 60_000;
const TOO_MANY_FAILURES = 3;
const UNSUPPORTED_VERSION = -32022;
/** The headers do not repeat what the server expects of its tool: it has changed it, and has executed nothing (mcp.md 1.2). */
const HEADER_MISMATCH = -32020;
/** How long a request that never arrived waits for a server that restarts, and how often it is tried. */
const HEAL_MS = 5_000;
const MAX_TRIES = 4;

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
  /** Connects if it is not, without waiting longer than the endpoint's time limit. Rejects with a `SessionError`, at once while the next try is not due. */
  ready(signal?: AbortSignal): Promise<void>;
  /** Resolves with the result as it came; rejects with a `SessionError`, or with the signal's reason. */
  request(request: CallRequest): Promise<Members>;
  /** Keeps it connected from now on: tried again without end (W-12). */
  keep(): void;
  readonly kept: boolean;
  /** Told when it went up or down, or its list was read. Returns how to stop that. */
  subscribe(listener: () => void): () => void;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger: Logger;
  readonly connectTimeoutMs: number;
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
  requests: number;
  /** No longer used for new requests; closed when the last one has ended. */
  retired: boolean;
}

export function createConnection(options: ConnectionOptions): Connection {
  const { clock, random, logger, connectTimeoutMs, hasHeaders } = options;
  const listeners = new Set<() => void>();
  const closed = new AbortController();
  let current: Open | undefined;
  let connecting: Promise<Open> | undefined;
  let listed: readonly unknown[] | undefined;
  let trouble: Trouble | undefined;
  /** Of tries, and of sessions that did not last; cleared by one that did. */
  let failures = 0;
  let kept = false;
  let usedAt = clock.now();
  let recent: number[] = [];
  let relisting: Promise<void> | undefined;
  let retrying = false;

  function onChange(): void {
    for (const listener of listeners) listener();
  }

  async function connect(): Promise<Open> {
    const startedAt = clock.now();
    const late = new AbortController();
    const over = new AbortController();
    void clock.sleep(connectTimeoutMs, over.signal).then(
      () =>
        late.abort(
          new SessionError('SERVER_UNAVAILABLE', 'no', `it did not connect within ${connectTimeoutMs} ms`),
        ),
      () => undefined,
    );
    const signal = AbortSignal.any([late.signal, closed.signal]);
    let session: Session | undefined;
    let ended: { readonly reason: SessionError | undefined } | undefined;
    const leftMs = () => Math.max(1, connectTimeoutMs - (clock.now() - startedAt));
    try {
      session = await options.open({
        timeoutMs: leftMs(),
        signal,
        onNotification: method => {
          if (method === 'notifications/tools/list_changed') void relist(SETTLE_MS);
        },
        onClose: reason => {
          ended = { reason };
          if (current?.session === session) sessionEnded(current!, reason);
        },
      });
      listed = await listTools(session, { timeoutMs: leftMs(), signal });
      if (ended) throw ended.reason ?? new SessionError('TRANSPORT_ERROR', 'yes', 'the connection ended');
      const opened: Open = { session, since: clock.now(), requests: 0, retired: false };
      current = opened;
      trouble = undefined;
      recent = [];
      void watch(opened);
      onChange();
      return opened;
    } catch (thrown) {
      void session?.close();
      const error = signal.aborted ? signal.reason : sessionError(thrown);
      if (!closed.signal.aborted) down(error);
      throw error;
    } finally {
      over.abort();
    }
  }

  function down(error: SessionError): void {
    failures += 1;
    const at = clock.now();
    trouble = { error, at, failures, retryAt: at + backoffMs(failures, random) };
    logger.warn('An MCP server is down', { failures, kind: error.kind, reason: error.message });
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
    current = undefined;
    if (closed.signal.aborted) return;
    // One that only forgot its session answers as before; nothing is wrong with it.
    if (reason instanceof HttpRefusal && reason.sessionGone) {
      onChange();
      if (kept) void session().catch(() => undefined);
      return;
    }
    lasted(open);
    down(reason ?? new SessionError('TRANSPORT_ERROR', 'unknown', 'the connection ended'));
  }

  /** A session that held longer than the pause before it clears what went before. */
  function lasted({ since }: Open): void {
    if (clock.now() - since >= backoffMs(failures + 1, () => 0)) failures = 0;
  }

  async function session(): Promise<Open> {
    if (closed.signal.aborted) throw closed.signal.reason;
    if (current) return current;
    if (!connecting && trouble && trouble.retryAt > clock.now()) {
      const { error } = trouble;
      throw new SessionError(
        error.kind === 'AUTHENTICATION_FAILED' ? error.kind : 'SERVER_UNAVAILABLE',
        'no',
        error.message,
        { cause: error },
      );
    }
    connecting ??= connect().finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  /** Waits for a connection that others wait for, too: giving up is the caller's own. */
  async function sessionFor(signal: AbortSignal | undefined): Promise<Open> {
    const opening = session();
    if (!signal) return opening;
    opening.catch(() => undefined);
    signal.throwIfAborted();
    let stop = () => {};
    const gaveUp = new Promise<never>((_, reject) => {
      const onAbort = () => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      stop = () => signal.removeEventListener('abort', onAbort);
    });
    try {
      return await Promise.race([opening, gaveUp]);
    } finally {
      stop();
    }
  }

  /** Reads the list again; a server that fails at it keeps the one it had. */
  function relist(afterMs: number): Promise<void> {
    relisting ??= (async () => {
      await clock.sleep(afterMs, closed.signal);
      // What is announced while the list is read is read by the next one.
      relisting = undefined;
      const open = current;
      if (!open) return;
      const found = await listTools(open.session, { timeoutMs: connectTimeoutMs, signal: closed.signal });
      if (current !== open) return;
      listed = found;
      onChange();
    })().catch(error => {
      relisting = undefined;
      if (!closed.signal.aborted)
        logger.warn('The tools of an MCP server could not be listed again', { error });
    });
    return relisting;
  }

  async function watch(open: Open): Promise<void> {
    void listen(open);
    const isOpen = () => current === open && !closed.signal.aborted;
    while (isOpen()) {
      await clock.sleep(RELIST_MS * (1 - random() / 10), closed.signal).catch(() => undefined);
      if (isOpen()) await relist(0);
    }
  }

  /** In the stateless era a server announces on a stream that is asked for; it is asked for again as often as it ends. */
  async function listen(open: Open): Promise<void> {
    const { facts } = open.session;
    if (facts.era !== 'modern' || !announcesTools(facts)) return;
    for (let ends = 1; current === open && !closed.signal.aborted; ends++) {
      try {
        await open.session.request(
          'subscriptions/listen',
          { filter: { toolsListChanged: true } },
          { timeoutMs: RELIST_MS, signal: closed.signal },
        );
      } catch (thrown) {
        // A time limit of ours renews the stream; whoever refuses it is asked every five minutes like the others.
        if (!(thrown instanceof SessionError)) return;
        if (thrown.kind !== 'TIMEOUT' && thrown.kind !== 'TRANSPORT_ERROR') return;
        if (thrown.kind === 'TIMEOUT') ends = 0;
      }
      await clock.sleep(backoffMs(ends + 1, random), closed.signal).catch(() => undefined);
    }
  }

  function failed(open: Open, error: SessionError): void {
    if (error.code === UNSUPPORTED_VERSION) {
      options.onWrongEra();
      retire(open);
    } else if (error instanceof HttpRefusal && error.sessionGone) retire(open);
    else if (error.kind === 'SERVER_UNAVAILABLE' || isTooMany(error)) giveUp(open, error);
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
    open.retired = true;
    if (open.requests === 0) void open.session.close();
  }

  /** One exchange on the session there is, or a new one. */
  async function exchange(request: CallRequest, until: number): Promise<Members> {
    const open = await sessionFor(request.signal);
    open.requests += 1;
    try {
      const timeoutMs = Math.max(1, until - clock.now());
      const result = await open.session.request(request.method, request.params, {
        ...request,
        timeoutMs,
        headers: headersOf(open, request),
      });
      recent = [];
      return result;
    } catch (error) {
      if (error instanceof SessionError) failed(open, error);
      throw error;
    } finally {
      open.requests -= 1;
      if (open.retired && open.requests === 0) void open.session.close();
    }
  }

  function mirrors({ session }: Open): boolean {
    return hasHeaders && session.facts.era === 'modern';
  }

  function headersOf(open: Open, { method, params, headers }: CallRequest): CallRequest['headers'] {
    if (method !== 'tools/call' || !mirrors(open) || !isMembers(params.arguments)) return headers;
    const tool = listed?.find(one => isMembers(one) && one.name === params.name);
    if (!isMembers(tool) || !isMembers(tool.inputSchema)) return headers;
    const mirrored = Object.entries(mirroredArguments(tool.inputSchema, params.arguments));
    return { ...headers, ...Object.fromEntries(mirrored.map(([name, value]) => [name, headerValue(value)])) };
  }

  /** Waits for a server that has only just gone to come back; one that stays away is not waited for. */
  async function healed(until: number, signal: AbortSignal | undefined): Promise<boolean> {
    if (current || !trouble) return true;
    const { retryAt } = trouble;
    if (trouble.failures > MAX_TRIES || retryAt >= until) return false;
    await clock.sleep(Math.max(0, retryAt - clock.now()), signal);
    return true;
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
      return current?.requests ?? 0;
    },
    get usedAt() {
      return usedAt;
    },

    async ready(signal) {
      await sessionFor(signal);
    },

    async request(request) {
      usedAt = clock.now();
      const until = usedAt + request.timeoutMs;
      const healUntil = Math.min(until, usedAt + HEAL_MS);
      let listedAgain = false;
      for (let tries = 1; ; tries++) {
        try {
          return await exchange(request, until);
        } catch (error) {
          if (isHeaderMismatch(error) && !listedAgain) {
            listedAgain = true;
            await relist(0);
          } else if (
            !neverArrived(error) ||
            tries === MAX_TRIES ||
            !(await healed(healUntil, request.signal))
          )
            throw error;
        }
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

    async close() {
      if (closed.signal.aborted) return;
      closed.abort(new SessionError('INTERRUPTED', 'no', 'the connection was closed'));
      const open = current;
      current = undefined;
      await Promise.all([
        open?.session.close(),
        connecting?.then(late => late.session.close()).catch(() => undefined),
      ]);
    },
  };
}

/** Sent on a session that turned out to be gone, or not at all: sent again it arrives for the first time. */
function neverArrived(error: unknown): boolean {
  if (!(error instanceof SessionError)) return false;
  if (error.code === UNSUPPORTED_VERSION || (error instanceof HttpRefusal && error.sessionGone)) return true;
  return error.reached === 'no' && error.kind === 'SERVER_UNAVAILABLE';
}

function isHeaderMismatch(error: unknown): boolean {
  return error instanceof SessionError && error.code === HEADER_MISMATCH;
}

function announcesTools({ capabilities }: ServerFacts): boolean {
  const tools = capabilities.tools as { readonly listChanged?: unknown } | undefined;
  return tools?.listChanged === true;
}
