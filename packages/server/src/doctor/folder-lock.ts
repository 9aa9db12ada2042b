import { DatabaseSync } from 'node:sqlite';
import { errorCodeOf } from './sqlite-file.ts';

/** Does another process hold the lock of a data folder? Asks without taking it. */
export function isLocked(file: string): boolean {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: 0 });
    database.prepare('select count(*) from sqlite_master').get();
    return false;
  } catch (error) {
    return errorCodeOf(error) === SQLITE_BUSY;
  } finally {
    database?.close();
  }
}

const SQLITE_BUSY = 5;
