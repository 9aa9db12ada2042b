import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely';
import type { Schema } from '../store/schema.ts';
import type { Db } from '../store/store.ts';
import { type Remark, shellWord } from './finding.ts';
import { type DatabaseFound, examineTables } from './tables.ts';

/** Is the embedded database whole, and one this program can work with? The file may be anything. */
export async function examineSqliteFile(file: string, now: () => number): Promise<DatabaseFound> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
  // Who may not even look into the folder has been told so.
  if (found instanceof Error && found.code !== 'ENOENT' && found.code !== 'ENOTDIR')
    return { remarks: [], clock: [] };
  if (found instanceof Error || found.size === 0) {
    const says = 'There is no database yet; the first start makes it.';
    return { remarks: [{ verdict: 'ok', says }], clock: [] };
  }
  try {
    const { db, raw } = openReadOnly(file);
    try {
      const [check] = raw.prepare('pragma quick_check(1)').all();
      const complaint = String(Object.values(check ?? {})[0]);
      if (complaint !== 'ok') return { remarks: [damaged(file, complaint)], clock: [] };
      const size = `${Math.ceil(found.size / 1024)} KiB`;
      return await examineTables(db, {
        name: `The database file ${file}`,
        described: `${file} (${size}) is whole`,
        ownDatabase: `mv ${shellWord(file)} ${shellWord(`${file}.other`)}`,
        now,
      });
    } finally {
      await db.destroy();
    }
  } catch (error) {
    return { remarks: [unreadable(file, error)], clock: [] };
  }
}

function damaged(file: string, complaint: string): Remark {
  const [line = ''] = complaint.split('\n').slice(-1);
  return {
    verdict: 'problem',
    says: `The database file ${file} is damaged (${line}): stop the platform and put a backup in its place. Without one, put it aside; the next start begins anew, without agents, keys and conversations.`,
    mend: putAside(file),
  };
}

const NO_DATABASE = 26;
const CORRUPT = 11;

function unreadable(file: string, error: unknown): Remark {
  const code = errorCodeOf(error);
  if (code === CORRUPT) return damaged(file, (error as Error).message);
  if (code === NO_DATABASE) {
    const says = `${file} is no database: put a backup in its place, or put it aside; the next start then begins anew.`;
    return { verdict: 'problem', says, mend: putAside(file) };
  }
  const says = `The database file ${file} cannot be read: ${(error as Error).message}.`;
  return { verdict: 'problem', says };
}

/** With its side files: a log of the old file would be played into the new one. */
function putAside(file: string): string {
  return `for f in ${shellWord(file)}*; do mv "$f" "$f.damaged"; done`;
}

/** Result code of SQLite, for instance 26 for a file that is no database. */
export function errorCodeOf(error: unknown): number | undefined {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined;
}

/**
 * A database file for reading, beside a running platform or without one. A file that was closed in order is read as it lies
 * there, so that no side file is made; one with a write-ahead log is read with it.
 */
function openReadOnly(file: string): { readonly db: Db; readonly raw: DatabaseSync } {
  const url = pathToFileURL(file);
  // SQLite takes its log away when the last one closes the file.
  if (!existsSync(`${file}-wal`)) url.searchParams.set('immutable', '1');
  const raw = new DatabaseSync(url, { readOnly: true, timeout: 5_000 });
  return { raw, db: new Kysely<Schema>({ dialect: new SqliteDialect({ database: adapt(raw) }) }) };
}

/** What Kysely's dialect needs of a driver to read. */
function adapt(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare(text) {
      const statement = database.prepare(text);
      return {
        reader: true,
        all: parameters => statement.all(...(parameters as string[])),
        run: parameters => statement.run(...(parameters as string[])),
        iterate: parameters => statement.iterate(...(parameters as string[])),
      };
    },
  };
}
