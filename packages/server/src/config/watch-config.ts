import { stat } from 'node:fs/promises';
import type { Clock } from '../kernel/clock.ts';
import { PlatformError } from '../kernel/errors.ts';
import type { Logger } from '../kernel/logger.ts';
import { configFiles, importConfigScript } from './config-script.ts';
import { type ConfigSources, type LoadedConfig, loadConfig } from './load-config.ts';
import type { ServerSections } from './server-sections.ts';

/** Looked at instead of listened to: mounted folders and files that are replaced tell nobody. */
const LOOK_MS = 500;
/** A file that is a program may wait for something that never comes. */
const RUN_MS = 30_000;

/**
 * Looks for changes of the configuration file and applies what it says of servers and agents; settings of the platform wait for the next start, which
 * the log says once a change. A file that cannot be used changes nothing, and the log says why. Answers how to stop.
 */
export function watchConfig(deps: {
  readonly sources: ConfigSources;
  readonly loaded: LoadedConfig;
  /** Of the file before it was loaded: a change since then is one, too. */
  readonly signature: string;
  /** Takes all of it or nothing: throws a `PlatformError` for what is wrong. */
  readonly apply: (loaded: Pick<LoadedConfig, 'servers' | 'agents'>) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}): () => Promise<void> {
  const { sources, apply, clock, logger } = deps;
  const stopped = new AbortController();
  let settings = deps.loaded.fileSettings;
  let reloads = 0;

  async function reload(): Promise<void> {
    try {
      reloads += 1;
      const script = await inTime(importConfigScript(sources, reloads));
      if (stopped.signal.aborted) return;
      const loaded = loadConfig({ ...sources, script });
      await apply(loaded);
      logger.info('The configuration file was read again', {
        servers: countServers(loaded.servers),
        agents: loaded.agents.length,
      });
      const changed = changedKeys(settings, loaded.fileSettings);
      settings = loaded.fileSettings;
      if (changed.length > 0) {
        logger.warn(
          `Settings in the configuration file changed and wait for the next start: ${changed.join(', ')}`,
        );
      }
    } catch (error) {
      const why = error instanceof PlatformError ? error.message.replaceAll('\n', ' ') : 'reading it failed.';
      logger.error(`The configuration file changed and is not used, all stays as it was: ${why}`, {
        ...(!(error instanceof PlatformError) && { error }),
      });
    }
  }

  /** What runs longer goes on by itself and changes nothing. */
  async function inTime<T>(running: Promise<T>): Promise<T | undefined> {
    const done = new AbortController();
    const late = clock.sleep(RUN_MS, AbortSignal.any([done.signal, stopped.signal])).then(
      () => {
        throw new PlatformError('invalid', `It runs for more than ${RUN_MS / 1_000} seconds.`);
      },
      () => undefined,
    );
    try {
      return await Promise.race([running, late]);
    } finally {
      done.abort();
    }
  }

  async function look(): Promise<void> {
    let used = deps.signature;
    let seen = used;
    while (!stopped.signal.aborted) {
      await clock.sleep(LOOK_MS, stopped.signal).catch(() => undefined);
      if (stopped.signal.aborted) return;
      const now = await configSignature(sources);
      // Once it has stayed the same for a while: a file that is being written is not read.
      if (now === seen && now !== used) {
        used = now;
        await reload();
      }
      seen = now;
    }
  }

  const looking = look();
  return async () => {
    stopped.abort();
    await looking;
  };
}

/** Another one when the configuration file is another, or is there or not. */
export async function configSignature({ cwd, env }: Pick<ConfigSources, 'cwd' | 'env'>): Promise<string> {
  const files = configFiles(cwd, env.PATCHBAY_CONFIG?.trim() || undefined);
  const found = await Promise.all(files.map(file => stat(file, { bigint: true }).catch(() => undefined)));
  return found.map(one => (one ? `${one.ino} ${one.size} ${one.mtimeNs}` : '')).join('\n');
}

function changedKeys(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter(key => before.get(key) !== after.get(key)).sort();
}

function countServers(sections: ServerSections): number {
  return Object.values(sections).reduce((sum, { servers }) => sum + Object.keys(servers).length, 0);
}
