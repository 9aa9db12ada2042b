import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PlatformError } from '../kernel/errors.ts';

/** Held while one process works in a data folder. Keep it reachable: what is collected lets go. */
export interface DataFolderLock extends AsyncDisposable {
  readonly folder: string;
}

/**
 * Makes the folder when it is missing, for its owner only, and takes it for this process. Rejects with a `PlatformError` when
 * another one has it. It is an exclusive transaction on a small database: the kernel ends it however the process ends.
 */
export async function lockDataFolder(folder: string): Promise<DataFolderLock> {
  let database: DatabaseSync | undefined;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    database = new DatabaseSync(join(folder, 'lock'), { timeout: 0 });
    database.exec('begin exclusive');
  } catch (cause) {
    database?.close();
    throw new PlatformError(
      'unavailable',
      isBusy(cause)
        ? `Another Patchbay process works in the data folder ${folder}: stop it, or choose another folder with PATCHBAY_DATA_DIR.`
        : `The data folder ${folder} cannot be used; check that this user may write there, or choose another with PATCHBAY_DATA_DIR.`,
      { cause },
    );
  }
  const held = database;
  return {
    folder,
    [Symbol.asyncDispose]: async () => held.close(),
  };
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
