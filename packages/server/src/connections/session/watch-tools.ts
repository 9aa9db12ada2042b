import type { Clock } from '../../kernel/clock.ts';
import { backoffMs } from './backoff.ts';
import { SessionError, sessionError } from './failure.ts';
import { listTools } from './list-tools.ts';
import type { Session } from './session.ts';

/** Without an announcement a list is read again so often, and a stream of announcements asked for anew (C30). */
const RELIST_MS = 300_000;
/** Announcements that come together are one, and a server that always announces is read so often. */
const SETTLE_MS = 200;
const BETWEEN_LISTS_MS = 2_000;
/** What it takes to look through a list is the server's to say: so much longer than that the next one waits. */
const REST_FACTOR = 20;
/** A stream that ends sooner is asked for later each time. */
const SHORT_MS = 10_000;

export interface ToolWatch {
  /** Told every notification of the server. */
  heard(method: string): void;
  /** Reads the list now. Resolves when that is done, however it went. */
  readNow(): Promise<void>;
}

/**
 * Keeps what is known of a session's tools up to date until the signal ends it: when the server announces a change, in whichever way its era has,
 * and every five minutes (W-20). One list is read at a time, so what is told last is the newest.
 */
export function watchTools(options: {
  readonly session: Session;
  readonly clock: Clock;
  readonly random: () => number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onListed: (tools: readonly unknown[]) => void;
  readonly onFailure: (error: SessionError) => void;
}): ToolWatch {
  const { session, clock, random, timeoutMs, signal, onListed, onFailure } = options;
  let reading = Promise.resolve();
  let next: Promise<void> | undefined;
  let nextAt = Number.NEGATIVE_INFINITY;
  let wake = new AbortController();

  async function read(): Promise<void> {
    next = undefined;
    let workMs = 0;
    try {
      const tools = await listTools(session, { timeoutMs, clock, signal });
      const listedAt = clock.now();
      if (!signal.aborted) onListed(tools);
      workMs = clock.now() - listedAt;
    } catch (thrown) {
      if (!signal.aborted) onFailure(sessionError(thrown));
    }
    nextAt = clock.now() + Math.min(Math.max(BETWEEN_LISTS_MS, REST_FACTOR * workMs), RELIST_MS);
  }

  /** After the one that is read now: it may not have seen what this is about. */
  function readNow(): Promise<void> {
    next ??= reading.then(() => (reading = read()));
    return next;
  }

  async function keepReading(): Promise<void> {
    while (!signal.aborted) {
      await clock.sleep(RELIST_MS * (1 - random() / 10), wake.signal).catch(() => undefined);
      const settle = Math.max(SETTLE_MS, nextAt - clock.now());
      await clock.sleep(settle, signal).catch(() => undefined);
      wake = new AbortController();
      if (!signal.aborted) await readNow();
    }
  }

  /** In the stateless era a server announces on a stream that is asked for. */
  async function listen(): Promise<void> {
    for (let short = 0; !signal.aborted; ) {
      const since = clock.now();
      try {
        const filter = { toolsListChanged: true };
        await session.request('subscriptions/listen', { filter }, { timeoutMs: RELIST_MS, signal });
      } catch (thrown) {
        if (signal.aborted || isRefusal(thrown)) return;
        // A stream that breaks may be a server that is gone.
        if (!isTimeout(thrown)) wake.abort();
      }
      short = clock.now() - since < SHORT_MS ? short + 1 : 0;
      await clock.sleep(backoffMs(short + 1, random), signal).catch(() => undefined);
    }
  }

  let streams = 0;
  signal.addEventListener('abort', () => wake.abort(), { once: true });
  void keepReading();
  if (session.facts.era === 'modern' && announcesTools(session)) void listen();

  return {
    readNow,
    heard(method) {
      const changed = method === 'notifications/tools/list_changed';
      // What was announced before a later stream stood is not known.
      const missed = method === 'notifications/subscriptions/acknowledged' && streams++ > 0;
      if (changed || missed) wake.abort();
    },
  };
}

function announcesTools({ facts: { capabilities } }: Session): boolean {
  const tools = capabilities.tools as { readonly listChanged?: unknown } | undefined;
  return tools?.listChanged === true;
}

function isTimeout(thrown: unknown): boolean {
  return thrown instanceof SessionError && thrown.kind === 'TIMEOUT';
}

/** Whoever refuses the stream is asked every five minutes like the others. */
function isRefusal(thrown: unknown): boolean {
  if (!(thrown instanceof SessionError)) return true;
  return !['TIMEOUT', 'TRANSPORT_ERROR', 'SERVER_UNAVAILABLE'].includes(thrown.kind);
}
