import { chmodSync, closeSync, openSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { createListeners } from '../events.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';
import { createGroupCommit } from './group-commit.ts';
import type { MigrationWords, OpenedEngine } from './opened-engine.ts';
import { describeSqlite } from './sqlite-catalog.ts';

const WORDS: MigrationWords = {
  int: sql.raw('integer'),
  real: sql.raw('real'),
  text: sql.raw('text'),
  bytes: sql.raw('blob'),
  tableEnd: sql.raw('strict'),
  nowFunction: undefined,
};

/** How long a statement waits for another process that has the file open, a backup for instance. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the embedded engine on a file, which only its owner may read, or in `:memory:`.
 * Every commit is on the disk before it is answered.
 */
export function openSqlite(options: {
  readonly file: string;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
}): OpenedEngine {
  const database = openDatabase(options.file);
  const db: Db = new Kysely<Schema>({ dialect: new SqliteDialect({ database: adapt(database) }) });
  const listeners = createListeners(options.logger);
  const group = createGroupCommit(database, db, event => listeners.tell(event, 'here'));
  // Whole numbers stay whole only as bigint.
  database.function('now_ms', () => BigInt(options.clock.now()));
  return {
    engine: {
      kind: 'sqlite',
      describe: describeSqlite,
      skipsLocked: false,
    },
    db,
    words: WORDS,
    exclusively: work =>
      db.connection().execute(async connection => {
        database.exec('begin exclusive');
        try {
          const result = await work(connection);
          database.exec('commit');
          return result;
        } finally {
          if (database.isTransaction) database.exec('rollback');
        }
      }),
    commit: group.commit,
    subscribe: listeners.subscribe,
    // One process has the file: what others do, it does itself.
    listen: async () => {},
    newsAgeMs: () => 0,
    close: async () => {
      await group.idle();
      await db.connection().execute(async () => database.exec('pragma wal_checkpoint(truncate)'));
      await db.destroy();
    },
  };
}

function openDatabase(file: string): DatabaseSync {
  try {
    if (file !== ':memory:') createPrivately(file);
    const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
    database.exec('pragma journal_mode = wal; pragma synchronous = full');
    return database;
  } catch (cause) {
    throw new PlatformError(
      'unavailable',
      `The database file ${file} cannot be opened; check that it is a Patchbay database and that this user may write it.`,
      { cause },
    );
  }
}

/** Keys' hashes and server secrets are inside. SQLite gives its side files the rights of the main one. */
function createPrivately(file: string): void {
  closeSync(openSync(file, 'a', 0o600));
  chmodSync(file, 0o600);
}

/** Statements kept prepared: more than the store has, so that only lists of varying length ever push one out. */
const MAX_PREPARED = 500;

/** What Kysely's dialect needs of a driver, over Node's own SQLite; statements stay prepared, by their text. */
function adapt(database: DatabaseSync): SqliteDatabase {
  const prepared = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare(text) {
      let statement = prepared.get(text);
      if (!statement) {
        if (/^\s*(create|alter|drop)\s/i.test(text)) prepared.clear();
        statement = prepare(database, text);
        if (prepared.size === MAX_PREPARED) prepared.delete(prepared.keys().next().value!);
        prepared.set(text, statement);
      }
      return statement;
    },
  };
}

function prepare(database: DatabaseSync, text: string): SqliteStatement {
  const statement = database.prepare(text);
  // Node's row objects have no prototype and are slow to read; arrays made into plain objects cost half.
  statement.setReturnArrays(true);
  const names = statement.columns().map(column => column.name);
  const toRow = (values: unknown[]) => {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) row[names[i]!] = values[i];
    return row;
  };
  const bind = (parameters: readonly unknown[]) => parameters as readonly SQLInputValue[];
  return {
    reader: names.length > 0,
    all: parameters => (statement.all(...bind(parameters)) as unknown as unknown[][]).map(toRow),
    run: parameters => statement.run(...bind(parameters)),
    *iterate(parameters) {
      // A statement of its own: the kept one may be run again before the reader is through.
      const own = database.prepare(text);
      own.setReturnArrays(true);
      for (const values of own.iterate(...bind(parameters))) yield toRow(values as unknown as unknown[]);
    },
  };
}
