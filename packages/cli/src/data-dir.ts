import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { usageError } from './cli-error.ts';
import type { Io } from './io.ts';

const CONFIG_FILE = 'patchbay.config.json';

/** Where the platform keeps its data, and the command line looks for it, when neither is told. */
export function defaultDataDir(io: Io): string {
  return join(io.home, '.patchbay');
}

/**
 * The data folder of this machine's platform, found as the platform finds it: `PATCHBAY_DATA_DIR`, then `dataDir` in the
 * configuration file; `~/` is the home folder.
 */
export function dataDir(io: Io): string {
  const folder = io.env.PATCHBAY_DATA_DIR?.trim() || configuredDataDir(io);
  if (folder === undefined) return defaultDataDir(io);
  return resolve(io.cwd, folder === '~' || folder.startsWith('~/') ? join(io.home, folder.slice(1)) : folder);
}

/** `dataDir` of the file that `PATCHBAY_CONFIG` names, or of the one in the working directory if there is one. */
function configuredDataDir(io: Io): string | undefined {
  const named = io.env.PATCHBAY_CONFIG?.trim() || undefined;
  const file = named ?? CONFIG_FILE;
  let configured: unknown;
  try {
    configured = JSON.parse(readFileSync(resolve(io.cwd, file), 'utf8').replace(/^\uFEFF/, ''))?.dataDir;
  } catch (cause) {
    if (named === undefined && (cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw usageError(
      `The configuration file ${file} cannot be read as JSON; mend it, or name the data folder with PATCHBAY_DATA_DIR.`,
      { cause },
    );
  }
  if (configured === undefined || configured === null) return undefined;
  if (typeof configured === 'string' && configured !== '') return configured;
  throw usageError(`dataDir in ${file} must be a folder; correct it, or leave it out for ~/.patchbay.`);
}
