import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { CliError, EXIT } from '../cli-error.ts';
import { type HostEntry, holdsKey } from './hosts.ts';

export interface WrittenEntry {
  readonly file: string;
  readonly change: 'added' | 'replaced' | 'unchanged';
  /** Copy of the file as it was; absent when there was none or nothing changed. */
  readonly backup?: string;
}

/** The entry of that name in a host's file, if there is one. Refuses a file we could not merge into. */
export async function readEntry(file: string, member: string, name: string): Promise<unknown> {
  return (await readEntries(file, member))[name];
}

/** All entries of a host's file by name; none without a file. Refuses a file we could not merge into. */
export async function readEntries(file: string, member: string): Promise<Record<string, unknown>> {
  const config = await readConfig(file);
  return serversOf(config.value, file, member);
}

/**
 * Puts one entry into a host's configuration and keeps everything else. A reader sees the old file or the new one, never
 * half of it; what was there before lies beside it as `<file>.<time>.bak`. A file with a key in it, and the backup, which may
 * hold an older one, are for their owner only.
 */
export async function writeEntry(
  file: string,
  member: string,
  name: string,
  entry: HostEntry,
  now: number,
): Promise<WrittenEntry> {
  // Configuration is often a link into a folder of dotfiles: the link stays, its target changes.
  const target = await realpath(file).catch(() => file);
  const config = await readConfig(target);
  const servers = serversOf(config.value, target, member);
  if (isDeepStrictEqual(servers[name], entry)) {
    const mode = await modeOf(target);
    const wanted = modeFor(mode, entry);
    if (wanted !== mode) await chmod(target, wanted);
    return { file: target, change: 'unchanged' };
  }
  const change = Object.hasOwn(servers, name) ? 'replaced' : 'added';
  const merged = { ...config.value, [member]: { ...servers, [name]: entry } };
  const text = `${JSON.stringify(merged, null, config.indent)}\n`;
  await mkdir(dirname(target), { recursive: true });
  if (config.text === undefined) {
    await replaceFile(target, text, OWNER_ONLY);
    return { file: target, change };
  }
  const backup = `${target}.${new Date(now).toISOString().replaceAll(':', '-')}.bak`;
  const mode = await modeOf(target);
  await writeFile(backup, await readFile(target), { flag: 'wx', mode: mode & OWNER_ONLY });
  await replaceFile(target, text, modeFor(mode, entry));
  return { file: target, change, backup };
}

const OWNER_ONLY = 0o600;

/** The file's own mode, and nobody but its owner once it holds a key; a stricter one stays. */
function modeFor(mode: number, entry: HostEntry): number {
  return holdsKey(entry) ? mode & OWNER_ONLY : mode;
}

async function modeOf(file: string): Promise<number> {
  return (await stat(file)).mode & 0o777;
}

interface Config {
  /** `undefined` when there is no file yet. */
  readonly text: string | undefined;
  readonly value: Record<string, unknown>;
  readonly indent: string;
}

async function readConfig(file: string): Promise<Config> {
  let text: string;
  try {
    text = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
      return { text: undefined, value: {}, indent: '  ' };
    throw new CliError(EXIT.failed, `${file} cannot be read; check its permissions.`, { cause });
  }
  if (text.trim() === '') return { text, value: {}, indent: '  ' };
  return { text, value: parseConfig(text, file), indent: /^\{\s*?\n([ \t]+)/.exec(text)?.[1] ?? '  ' };
}

function parseConfig(text: string, file: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    // Only the place: the parser quotes the file, and the file may hold keys.
    const place = /line \d+ column \d+/.exec((cause as Error).message)?.[0];
    throw broken(file, `is not plain JSON${place ? ` (${place})` : ''}`);
  }
  if (isObject(value)) return value;
  throw broken(file, 'holds no JSON object');
}

function serversOf(config: Record<string, unknown>, file: string, member: string): Record<string, unknown> {
  const servers = config[member] ?? {};
  if (isObject(servers)) return servers;
  throw broken(file, `has a ${member} that is no object`);
}

function broken(file: string, what: string): CliError {
  return new CliError(
    EXIT.failed,
    `${file} ${what}, so it was left as it is; mend it, or add the entry by hand (the same command without --write prints it).`,
  );
}

async function replaceFile(target: string, text: string, mode: number): Promise<void> {
  const temporary = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.writeFile(text);
      // The mode given to `open` is cut by the umask; the old file's is kept as it was.
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, target);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw thrown;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
