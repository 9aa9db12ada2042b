import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { z } from 'zod';
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
  /** For each run of a unit. */
  ofUnit(): UnitNews;
  /** Resolves when this node hears, or when it cannot for now; it goes on trying until `close`. */
  listen(): Promise<void>;
  /** Since the last word to itself that was heard. */
  ageMs(): number;
  close(): Promise<void>;
}

/** What one run of a unit has to say. */
export interface UnitNews {
  /** Sends with the transaction: nobody hears of one that is rolled back. */
  send(trx: Db, events: readonly PlatformEvent[]): Promise<void>;
  /** It is committed: tells this process, at once and also while nothing is heard. */
  tellHere(): void;
  /**
   * Nobody knows whether it is committed, or yet will be: whatever is remembered here has to be looked up again, and again
   * when the news arrives after all.
   */
  doubt(): void;
}

const EVENT = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('key-changed'), keyId: z.string() }),
  z.object({ kind: z.literal('user-changed'), userId: z.string() }),
  z.object({ kind: z.literal('grant-changed'), grantId: z.string() }),
  z.object({ kind: z.literal('agent-changed'), agentId: z.string() }),
  z.object({ kind: z.literal('document-removed'), type: z.string(), id: z.string() }),
  z.object({ kind: z.literal('secret-changed'), name: z.string() }),
  z.object({ kind: z.literal('credential-changed'), userId: z.string(), name: z.string() }),
  z.object({ kind: z.literal('variable-changed'), name: z.string() }),
  z.object({ kind: z.literal('agent-deployed'), agentId: z.string(), agentVersion: z.int().positive() }),
  z.object({ kind: z.literal('call-cancelled'), call: z.string() }),
  z.object({ kind: z.literal('turn-cancelled'), conversationId: z.string(), fence: z.int() }),
  z.object({ kind: z.literal('calls-counted'), calls: z.record(z.string(), z.int().positive()) }),
  z.object({ kind: z.literal('pause-decided'), pauseId: z.string() }),
  z.object({ kind: z.literal('question-left'), pauseId: z.string() }),
  z.object({ kind: z.literal('log-changed'), logId: z.string() }),
  z.object({ kind: z.literal('server-changed'), instance: z.string(), name: z.string() }),
  z.object({ kind: z.literal('job-added'), job: z.string() }),
]) satisfies z.ZodType<PlatformEvent>;

/** Whoever may connect to the database may write to the channel. */
const MESSAGE = z.union([
  z.object({ from: z.string(), unit: z.int(), event: EVENT }),
  z.object({ from: z.string(), echo: z.int() }),
]);

type Message = z.infer<typeof MESSAGE>;

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

  let units = 0;
  /** Units of this store whose commit nobody knows of, by number: one for a connection that was lost. */
  const doubted = new Set<number>();

  function hear(text: string): void {
    let message: Message;
    try {
      message = MESSAGE.parse(JSON.parse(text));
    } catch (error) {
      logger?.warn('A message of another node could not be read', { error });
      return;
    }
    const isOwn = message.from === self;
    if ('echo' in message) {
      if (isOwn && message.echo === awaited?.echo) awaited.heard();
    } else if (!isOwn) listeners.tell(message.event, 'elsewhere');
    else if (doubted.has(message.unit)) listeners.tell(message.event, 'here');
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
    const message = { from: self, echo: echoes } satisfies Message;
    await client.query('select pg_notify($1, $2)', [channel, JSON.stringify(message)]);
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
    ofUnit() {
      units += 1;
      const unit = units;
      let said: readonly PlatformEvent[] = [];
      return {
        async send(trx, events) {
          if (events.length === 0) return;
          said = events;
          const messages = JSON.stringify(
            events.map(event => JSON.stringify({ from: self, unit, event } satisfies Message)),
          );
          // One text for any number of them, so that the server prepares it once.
          await sql`select pg_notify(${sql.raw(CHANNEL)}, message)
            from json_array_elements_text(${messages}::json) as said (message)`.execute(trx);
        },
        tellHere() {
          for (const event of said) listeners.tell(event, 'here');
        },
        doubt() {
          if (said.length === 0) return;
          doubted.add(unit);
          listeners.tell({ kind: 'resync' }, 'here');
        },
      };
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
