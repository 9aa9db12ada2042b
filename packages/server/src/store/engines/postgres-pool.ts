import type { PostgresPool } from 'kysely';
import pg from 'pg';
import { PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';

/** A network that goes away says nothing; the system asks the other side after so long without a word. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/**
 * Connections whose every failure to reach the database, or to hear of it within `answerWithinMs`, is a `PlatformError`
 * (unavailable) and ends no more than what was using them. `answerWithinMs` counts for each statement; without it one may take
 * as long as it takes.
 */
export function createPool(options: {
  readonly connection: pg.ClientConfig;
  readonly answerWithinMs?: number | undefined;
  readonly logger?: Logger | undefined;
}): PostgresPool {
  const outOfReach = (cause: unknown): PlatformError => {
    options.logger?.warn('The database is out of reach', { error: cause });
    return new PlatformError('unavailable', 'The database does not answer for now; try again in a moment.', {
      cause,
    });
  };
  const pool = new pg.Pool({
    ...options.connection,
    Client: createClientClass(createStatementNames(), outOfReach),
    application_name: 'patchbay',
    query_timeout: options.answerWithinMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: { getTypeParser },
  });
  // The pool drops a connection that breaks while idle; the next query opens another or says why it cannot.
  pool.on('error', () => {});
  return {
    options: pool.options,
    connect: async () => {
      try {
        return await pool.connect();
      } catch (error) {
        throw outOfReach(error);
      }
    },
    end: () => pool.end(),
  };
}

/**
 * The server planned a statement before its tables were changed, by the migration of a later version for instance. Nothing was
 * run; the next time it is planned anew.
 */
export function isOutdatedPlan(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'RevalidateCachedQuery'
  );
}

/** Statements the server keeps parsed and planned on each connection. Beyond so many, texts are of the moment. */
const MAX_PREPARED = 500;

/** Names texts are prepared by, the same on all connections. */
interface StatementNames {
  of(text: string): string | undefined;
  /** Other names from now on: what was prepared under the old ones is used no more, on no connection. */
  renew(): void;
}

function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  let given = 0;
  return {
    of(text) {
      const known = names.get(text);
      if (known !== undefined || names.size >= MAX_PREPARED) return known;
      given += 1;
      const name = `patchbay_${given}`;
      names.set(text, name);
      return name;
    },
    renew: () => names.clear(),
  };
}

/** What `pg` says when `query_timeout` is over; it has no other mark. */
const READ_TIMEOUT = 'Query read timeout';

/** The server says goodbye in answer to a statement: shutdown, crash, connection errors, too long idle. */
const GOODBYE = /^(08|57P|25P03)/;

/**
 * Has every text with parameters prepared once a connection and runs it by its name: planning the joins of a turn costs the
 * server more than running them.
 */
function createClientClass(names: StatementNames, outOfReach: (cause: unknown) => PlatformError) {
  return class PreparingClient extends pg.Client {
    #isLost = false;

    constructor(config?: pg.ClientConfig) {
      super(config);
      // Nobody else listens while it is in use, and an error that nobody hears would end the process.
      this.on('error', () => {
        this.#isLost = true;
      });
    }

    /** The one way Kysely asks. */
    override query(...[text, values]: unknown[]): never {
      return this.#ask(text as string, values as unknown[] | undefined) as never;
    }

    async #ask(text: string, values: unknown[] = []): Promise<pg.QueryResult> {
      try {
        const name = values.length > 0 ? names.of(text) : undefined;
        return await super.query({ text, values, ...(name !== undefined && { name }) });
      } catch (error) {
        if (isOutdatedPlan(error)) {
          names.renew();
          // A transaction is over with its first error; whoever began it has to begin again.
          if (this.getTransactionStatus() === 'I') return this.#ask(text, values);
        }
        if (error instanceof Error && error.message === READ_TIMEOUT) {
          this.#isLost = true;
          // Whatever follows on it would wait as long, the rollback first.
          void this.end();
        }
        throw this.#isLost || isGoodbye(error) ? outOfReach(error) : error;
      }
    }
  };
}

function isGoodbye(error: unknown): boolean {
  return error instanceof pg.DatabaseError && GOODBYE.test(error.code ?? '');
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
