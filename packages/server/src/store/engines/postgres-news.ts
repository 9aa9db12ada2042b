import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import type { PlatformEvent } from '../../kernel/events.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Listeners } from '../events.ts';
import type { Db } from '../store.ts';

/** Each schema is a platform of its own. Its name may be as long as a channel's, so its digest stands for it. */
const CHANNEL = "'patchbay_' || md5(current_schema())";

/**
 * The listening connection says something to itself again and again. Hearing it shows that what was said before has arrived:
 * often enough that what is remembered stays believed (`newsAgeMs`). One that hears nothing for so long went silent without a
 * word, or never hears anything, as behind a pooler that gives each transaction another connection.
 */
const ASK_EVERY_MS = 400;
const ANSWER_WITHIN_MS = 5_000;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 10_000;
/** How long a goodbye may take before the connection is left to the server. */
const CLOSE_WITHIN_MS = 1_000;

/** News between the nodes of one database, by NOTIFY. */
export interface PostgresNews {
  /** Sends with the transaction: nobody hears of one that is rolled back. */
  send(trx: Db, events: readonly PlatformEvent[]): Promise<void>;
  /** Tells this process, at once and also while nothing is heard. */
  tellHere(events: readonly PlatformEvent[]): void;
  /** Resolves when this node hears, or when it cannot for now; it goes on trying until `close`. */
  listen(): Promise<void>;
  /** Since the last word to itself that was heard. */
  ageMs(): number;
  close(): Promise<void>;
}

export function createPostgresNews(options: {
  readonly connection: pg.ClientConfig;
  readonly listeners: Listeners;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
}): PostgresNews {
  const { connection, listeners, clock, logger } = options;
  /** Names this store in its messages: what it hears of itself has been told already. */
  const self = randomUUID();
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  /** Nothing said before is missing. */
  let completeAt = Number.NEGATIVE_INFINITY;

  let echoes = 0;
  /** The last word to itself, and what waits for it. */
  let awaited: { readonly echo: number; readonly heard: () => void } | undefined;

  function hear(message: string): void {
    try {
      const { from, event, echo } = JSON.parse(message) as {
        from: string;
        event?: PlatformEvent;
        echo?: number;
      };
      if (from !== self && event) listeners.tell(event, 'elsewhere');
      if (from === self && echo === awaited?.echo) awaited?.heard();
    } catch (error) {
      // Whoever may connect to the database may write to the channel.
      logger?.warn('A message of another node could not be read', { error });
    }
  }

  /** Listens until the connection is lost or the store closes; always rejects. */
  async function listenOnce(onHearing: () => void): Promise<never> {
    const client = new pg.Client({
      ...connection,
      application_name: 'patchbay news',
      keepAlive: true,
      query_timeout: ANSWER_WITHIN_MS,
    });
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => {});
    client.on('error', lost.reject);
    client.on('end', () => lost.reject(new Error('The server ended the connection.')));
    client.on('notification', ({ payload }) => hear(payload ?? ''));
    try {
      await client.connect();
      const { rows } = await client.query<{ channel: string }>(`select ${CHANNEL} as channel`);
      const channel = rows[0]!.channel;
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
      // What was said before is lost, also between two connections.
      listeners.tell({ kind: 'resync' }, 'elsewhere');
      const listening = speakAndHear(client, channel, onHearing);
      listening.catch(() => {});
      return await Promise.race([lost.promise, listening]);
    } finally {
      const closed = new AbortController();
      const late = clock.sleep(CLOSE_WITHIN_MS, closed.signal).catch(() => {});
      await Promise.race([client.end().catch(() => {}), late]);
      closed.abort();
    }
  }

  async function speakAndHear(client: pg.Client, channel: string, onHearing: () => void): Promise<never> {
    for (;;) {
      const askedAt = clock.now();
      await hearEcho(client, channel);
      completeAt = askedAt;
      onHearing();
      await clock.sleep(ASK_EVERY_MS, closing.signal);
    }
  }

  async function hearEcho(client: pg.Client, channel: string): Promise<void> {
    echoes += 1;
    const heard = Promise.withResolvers<void>();
    awaited = { echo: echoes, heard: heard.resolve };
    await client.query('select pg_notify($1, $2)', [channel, JSON.stringify({ from: self, echo: echoes })]);
    const inTime = new AbortController();
    const late = clock.sleep(ANSWER_WITHIN_MS, AbortSignal.any([inTime.signal, closing.signal])).then(() => {
      throw new Error('The connection does not hear what it says itself; is there a pooler in between?');
    });
    try {
      await Promise.race([heard.promise, late]);
    } finally {
      inTime.abort();
      late.catch(() => {});
    }
  }

  async function listenAgainAndAgain(onFirst: () => void): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (!closing.signal.aborted) {
      try {
        await listenOnce(() => {
          retryMs = FIRST_RETRY_MS;
          onFirst();
        });
      } catch (error) {
        if (closing.signal.aborted) return;
        logger?.warn('News of other nodes is not heard for now', { retryMs, error });
      }
      onFirst();
      await clock.sleep(retryMs, closing.signal).catch(() => {});
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    }
  }

  return {
    async send(trx, events) {
      if (events.length === 0) return;
      const messages = JSON.stringify(events.map(event => JSON.stringify({ from: self, event })));
      // One text for any number of them, so that the server prepares it once.
      await sql`select pg_notify(${sql.raw(CHANNEL)}, message)
        from json_array_elements_text(${messages}::json) as said (message)`.execute(trx);
    },
    tellHere(events) {
      for (const event of events) listeners.tell(event, 'here');
    },
    listen: () =>
      new Promise(resolve => {
        running ??= listenAgainAndAgain(resolve);
      }),
    ageMs() {
      const age = clock.now() - completeAt;
      // A clock that was set back makes no certainty last longer.
      return age < 0 ? Number.POSITIVE_INFINITY : age;
    },
    async close() {
      closing.abort();
      await running;
    },
  };
}
