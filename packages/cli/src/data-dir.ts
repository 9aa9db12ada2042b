import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { usageError } from './cli-error.ts';
import type { Io } from './io.ts';

const CONFIG_FILES = ['patchbay.config.ts', 'patchbay.config.json'];
const IS_SCRIPT = /\.[cm]?[jt]s$/;

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
  const file = named ?? CONFIG_FILES.find(name => existsSync(resolve(io.cwd, name)));
  if (file === undefined) return undefined;
  let configured: unknown;
  try {
    configured = readConfig(resolve(io.cwd, file))?.dataDir;
  } catch (cause) {
    const how = IS_SCRIPT.test(file) ? 'run' : 'read as JSON';
    throw usageError(
      `The configuration file ${file} cannot be ${how}; mend it, or name the data folder with PATCHBAY_DATA_DIR.`,
      { cause },
    );
  }
  if (configured === undefined || configured === null) return undefined;
  if (typeof configured === 'string' && configured !== '') return configured;
  throw usageError(`dataDir in ${file} must be a folder; correct it, or leave it out for ~/.patchbay.`);
}

function readConfig(file: string): Readonly<Record<string, unknown>> | undefined {
  if (!IS_SCRIPT.test(file)) return JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''));
  const module = createRequire(import.meta.url)(file);
  return module.default ?? module;
}
