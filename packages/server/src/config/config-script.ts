import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { PlatformError } from '../kernel/errors.ts';
import { redactText } from '../kernel/redact.ts';

export const CONFIG_JSON = 'patchbay.config.json';
const CONFIG_SCRIPT = 'patchbay.config.ts';
const IS_SCRIPT = /\.[cm]?[jt]s$/;

/** A configuration file that is a program, and what it exports. */
export interface ConfigScript {
  /** As people call it. */
  readonly shown: string;
  readonly exports: unknown;
}

/** Files that may hold the configuration, the one that is read first: the one that was named, else the usual two. */
export function configFiles(cwd: string, named: string | undefined): string[] {
  return (named === undefined ? [CONFIG_SCRIPT, CONFIG_JSON] : [named]).map(file => path.resolve(cwd, file));
}

/**
 * Runs the configuration file, where it is a program: its default export, or else what it exports by name. `undefined` where the
 * configuration is JSON, or there is none. `reload` counts the times it was run before, so that it is run once more.
 * Rejects with a `PlatformError` that says in a sentence why it cannot be.
 */
export async function importConfigScript(
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
  reload = 0,
): Promise<ConfigScript | undefined> {
  const named = env.PATCHBAY_CONFIG?.trim() || undefined;
  const shown = named ?? CONFIG_SCRIPT;
  const file = path.resolve(cwd, shown);
  if (!IS_SCRIPT.test(file) || (named === undefined && !existsSync(file))) return undefined;
  if (named === undefined && existsSync(path.resolve(cwd, CONFIG_JSON))) {
    throw new PlatformError(
      'invalid',
      `There are a ${CONFIG_SCRIPT} and a ${CONFIG_JSON}; keep one, or name one with PATCHBAY_CONFIG.`,
    );
  }
  try {
    // What the file itself imports is remembered, whatever is asked behind the question mark.
    const module: Record<string, unknown> = await import(`${pathToFileURL(file).href}?reload=${reload}`);
    return { shown, exports: module.default ?? module };
  } catch (cause) {
    const why =
      cause instanceof Error ? redactText(cause.message.split('\n')[0]!.slice(0, 300)) : 'it throws';
    throw new PlatformError('invalid', `The configuration file ${shown} cannot be run: ${why}.`, { cause });
  }
}
