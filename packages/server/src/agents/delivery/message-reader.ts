import type { Clock } from '../../kernel/clock.ts';
import type { Store } from '../../store/store.ts';
import { type LoggedMessage, listMessages } from '../../store/tables/message-logs.ts';

export type { LoggedMessage } from '../../store/tables/message-logs.ts';

/** Why a reader who follows a log hears no more. */
export type LogEnd = 'over' | 'reader_gone' | 'closing';

/** Reads the logs of conversations and tasks, and follows them. */
export interface MessageReader {
  /** Oldest first. */
  read(
    logId: string,
    page: { readonly since: number; readonly limit: number },
  ): Promise<readonly LoggedMessage[]>;
  /**
   * Gives each message after `since` to `take`, as soon as it is there, until the log is over, the reader has gone, or the stream has
   * been open long enough or the node is about to stop. Resolves with which of these it was.
   */
  follow(
    logId: string,
    options: {
      readonly since: number;
      /** Has the last message been written? Asked before each reading. */
      readonly isOver: () => Promise<boolean>;
      readonly signal: AbortSignal;
      readonly take: (message: LoggedMessage) => Promise<void>;
    },
  ): Promise<LogEnd>;
  /** Ends everything that follows. */
  close(): void;
}

const AT_ONCE = 100;
/** News may be lost, though `resync` tells of nearly all that is. */
const LOOK_AGAIN_MS = 15_000;
/** A key may be revoked, and nobody asks it again while its stream is open. */
const MAX_OPEN_MS = 15 * 60_000;

/** Nobody sees it; a reason of our own spares the abort an error with a stack. */
const RUNG = Symbol('rung');

export function createMessageReader(deps: { readonly store: Store; readonly clock: Clock }): MessageReader {
  const { store, clock } = deps;
  const closing = new AbortController();
  /** Of those who wait for more, by log. */
  const bells = new Map<string, Set<AbortController>>();
  store.subscribe(event => {
    if (event.kind === 'log-changed') ring(event.logId);
    if (event.kind === 'resync') for (const logId of bells.keys()) ring(logId);
  });

  function ring(logId: string): void {
    for (const bell of bells.get(logId) ?? []) bell.abort(RUNG);
  }

  /** Rings with the next news of the log; hung up before anything is read, so that nothing is missed in between. */
  function hangBell(logId: string): { readonly rung: AbortSignal; takeDown(): void } {
    const bell = new AbortController();
    const hung = bells.get(logId) ?? new Set();
    hung.add(bell);
    bells.set(logId, hung);
    return {
      rung: bell.signal,
      takeDown() {
        hung.delete(bell);
        if (hung.size === 0 && bells.get(logId) === hung) bells.delete(logId);
      },
    };
  }

  const read: MessageReader['read'] = (logId, page) => listMessages(store.db, { logId, ...page });

  return {
    read,

    async follow(logId, { since, isOver, signal, take }) {
      const until = clock.now() + MAX_OPEN_MS;
      let position = since;
      for (;;) {
        const bell = hangBell(logId);
        try {
          const over = await isOver();
          const messages = await read(logId, { since: position, limit: AT_ONCE });
          for (const message of messages) {
            if (signal.aborted) return 'reader_gone';
            await take(message);
            position = message.position;
          }
          if (messages.length === AT_ONCE) continue;
          if (over) return 'over';
          if (closing.signal.aborted || clock.now() >= until) return 'closing';
          const wake = AbortSignal.any([bell.rung, signal, closing.signal]);
          await clock.sleep(LOOK_AGAIN_MS, wake).catch(() => {});
          if (signal.aborted) return 'reader_gone';
        } finally {
          bell.takeDown();
        }
      }
    },

    close: () => closing.abort(RUNG),
  };
}
