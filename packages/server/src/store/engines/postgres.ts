import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { createListeners } from '../events.ts';
import type { Schema } from '../schema.ts';
import type { Db, Store } from '../store.ts';
import { refuseInsideUnit, runUnit } from '../unit-scope.ts';
import type { MigrationWords, OpenedEngine } from './opened-engine.ts';
import { describePostgres } from './postgres-catalog.ts';
import { createPostgresNews, type PostgresNews } from './postgres-news.ts';
import { createPool, isOutdatedPlan } from './postgres-pool.ts';

const WORDS: MigrationWords = {
  int: sql.raw('bigint'),
  real: sql.raw('double precision'),
  text: sql.raw('text collate "C"'),
  bytes: sql.raw('bytea'),
  tableEnd: sql.raw(''),
  nowFunction: sql`create function now_ms() returns bigint language sql volatile parallel safe
    as 'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint'`,
};

const MIN_SERVER_VERSION = 15;
const CONNECT_TIMEOUT_MS = 10_000;
/** Nothing the platform asks takes longer; a server that is silent for so long is gone, or the way to it. */
const ANSWER_WITHIN_MS = 10_000;

/** Connects to a server. Rejects with a `PlatformError` when it cannot be reached, is too old or does not store UTF-8. */
export async function openPostgres(options: {
  readonly url: string;
  readonly schema?: string;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  /** How long one statement may take, except those of `exclusively`. */
  readonly answerWithinMs?: number;
}): Promise<OpenedEngine> {
  const { logger, answerWithinMs = ANSWER_WITHIN_MS } = options;
  const schema = options.schema;
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new PlatformError(
      'invalid',
      `The database schema "${schema}" must be of a-z, 0-9 and _, 63 characters at most.`,
    );
  }
  const connection = {
    connectionString: options.url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(schema !== undefined && { options: `-c search_path=${schema}` }),
  };
  const connect = (answerWithinMs?: number): Db =>
    new Kysely<Schema>({
      dialect: new PostgresDialect({ pool: createPool({ connection, answerWithinMs, logger }) }),
    });
  const db = connect(answerWithinMs);
  const listeners = createListeners(logger);
  const news = createPostgresNews({ ...options, connection, listeners });
  const opened: OpenedEngine = {
    engine: {
      kind: 'postgres',
      describe: describePostgres,
      skipsLocked: true,
    },
    db,
    words: WORDS,
    async exclusively(work) {
      // Waiting for another node and migrating take as long as they take.
      const patient = connect();
      try {
        return await patient.transaction().execute(async trx => {
          await sql`select pg_advisory_xact_lock(hashtext('patchbay'), hashtext(${schema ?? ''}))`.execute(
            trx,
          );
          if (schema !== undefined) await sql`create schema if not exists ${sql.id(schema)}`.execute(trx);
          return work(trx);
        });
      } finally {
        await patient.destroy();
      }
    },
    commit: createCommit(db, news),
    subscribe: listeners.subscribe,
    listen: news.listen,
    newsAgeMs: news.ageMs,
    close: async () => {
      await news.close();
      await db.destroy();
    },
  };
  try {
    await refuseUnfitServer(db);
  } catch (error) {
    await opened.close();
    throw error;
  }
  return opened;
}

async function refuseUnfitServer(db: Db): Promise<void> {
  let server: { version: number; encoding: string } | undefined;
  try {
    const { rows } = await sql<{ version: number; encoding: string }>`select
      current_setting('server_version_num')::int / 10000 as version,
      current_setting('server_encoding') as encoding`.execute(db);
    server = rows[0];
  } catch (cause) {
    throw new PlatformError(
      'unavailable',
      'The database of PATCHBAY_DATABASE_URL cannot be reached; check the address, the credentials and that the server runs.',
      { cause },
    );
  }
  if (!server || server.version < MIN_SERVER_VERSION) {
    throw new PlatformError(
      'unavailable',
      `The database of PATCHBAY_DATABASE_URL is PostgreSQL ${server?.version}; Patchbay needs ${MIN_SERVER_VERSION} or later.`,
    );
  }
  if (server.encoding !== 'UTF8') {
    throw new PlatformError(
      'unavailable',
      `The database of PATCHBAY_DATABASE_URL has the encoding ${server.encoding}; make one with ENCODING 'UTF8'.`,
    );
  }
}

const MAX_ATTEMPTS = 5;

function createCommit(db: Db, news: PostgresNews): Store['commit'] {
  return async unit => {
    refuseInsideUnit('commit() was called');
    for (let attempt = 1; ; attempt++) {
      const said = news.ofUnit();
      let isAllDone = false;
      try {
        const value = await db.transaction().execute(async trx => {
          const result = await runUnit(trx, unit);
          await said.send(trx, result.events);
          isAllDone = true;
          return result.value;
        });
        said.tellHere();
        return value;
      } catch (error) {
        if (isAllDone && isOutOfReach(error)) {
          said.doubt();
          throw new PlatformError(
            'unavailable',
            'The connection to the database was lost while the change was being stored; look whether it was, before trying again.',
            { cause: error },
          );
        }
        if (attempt === MAX_ATTEMPTS || !isBrokenOff(error)) throw error;
      }
    }
  };
}

/** With everything done but the commit, only the connection says so. */
function isOutOfReach(error: unknown): boolean {
  return error instanceof PlatformError && error.kind === 'unavailable';
}

/** So that another transaction could go on: serialization failure, deadlock. */
const FOR_ANOTHER = new Set(['40001', '40P01']);

/** The server broke the transaction off: nothing is stored, and it may run again. */
function isBrokenOff(error: unknown): boolean {
  const code = error instanceof pg.DatabaseError ? error.code : undefined;
  return isOutdatedPlan(error) || FOR_ANOTHER.has(code ?? '');
}
