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

/** Connects to a server. Rejects with a `PlatformError` when it cannot be reached, is too old or does not store UTF-8. */
export async function openPostgres(options: {
  readonly url: string;
  readonly schema?: string;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
}): Promise<OpenedEngine> {
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
  const pool = new pg.Pool({
    ...connection,
    Client: PreparingClient,
    application_name: 'patchbay',
    types: { getTypeParser },
  });
  // The pool drops a connection that breaks while idle; the next query opens another or says why it cannot.
  pool.on('error', () => {});
  const db: Db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  const listeners = createListeners(options.logger);
  const news = createPostgresNews({ ...options, connection, listeners });
  const opened: OpenedEngine = {
    engine: {
      kind: 'postgres',
      describe: describePostgres,
      skipsLocked: true,
    },
    db,
    words: WORDS,
    exclusively: work =>
      db.transaction().execute(async trx => {
        await sql`select pg_advisory_xact_lock(hashtext('patchbay'), hashtext(${schema ?? ''}))`.execute(trx);
        if (schema !== undefined) await sql`create schema if not exists ${sql.id(schema)}`.execute(trx);
        return work(trx);
      }),
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

/** Statements the server keeps parsed and planned on each connection. Beyond so many, texts are of the moment. */
const MAX_PREPARED = 500;

/**
 * Has every text with parameters prepared once a connection and runs it by its name: planning the joins of a turn costs the
 * server more than running them.
 */
class PreparingClient extends pg.Client {
  readonly #names = new Map<string, string>();

  override query(...args: unknown[]): never {
    const [text, values] = args;
    const isPlain = typeof text === 'string' && Array.isArray(values) && values.length > 0;
    const name = isPlain ? this.#nameOf(text) : undefined;
    const query = super.query as (...args: unknown[]) => never;
    return name === undefined
      ? query.apply(this, args)
      : query.call(this, { name, text, values }, ...args.slice(2));
  }

  #nameOf(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= MAX_PREPARED) return known;
    const name = `patchbay_${this.#names.size}`;
    this.#names.set(text, name);
    return name;
  }
}

/** Rows as SQLite gives them: every number a number, booleans 0 and 1, bytes without Node's Buffer. Anything else as `pg` does. */
function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: never) => unknown {
  const { builtins } = pg.types;
  switch (oid) {
    case builtins.INT8:
    case builtins.NUMERIC:
      return Number;
    case builtins.BOOL:
      return (value: string) => (value === 't' ? 1 : 0);
    case builtins.BYTEA: {
      const toBuffer = pg.types.getTypeParser(builtins.BYTEA) as (value: string) => Buffer;
      return (value: string) => new Uint8Array(toBuffer(value));
    }
    default:
      return pg.types.getTypeParser(oid, format as 'text') as (value: never) => unknown;
  }
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

/** The server broke the transaction off so that another one could go on: nothing is stored, and it may run again. */
const BROKEN_OFF = new Set(['40001', '40P01']);
const MAX_ATTEMPTS = 5;

function createCommit(db: Db, news: PostgresNews): Store['commit'] {
  return async unit => {
    refuseInsideUnit('commit() was called');
    for (let attempt = 1; ; attempt++) {
      try {
        const { value, events } = await db.transaction().execute(async trx => {
          const result = await runUnit(trx, unit);
          await news.send(trx, result.events);
          return result;
        });
        news.tellHere(events);
        return value;
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !BROKEN_OFF.has(sqlState(error))) throw error;
      }
    }
  };
}

function sqlState(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : '';
}
