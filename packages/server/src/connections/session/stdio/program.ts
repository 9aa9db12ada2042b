import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../kernel/logger.ts';
import { endTree } from './end-tree.ts';
import { treeOf } from './process-tree.ts';
import type { ProgramPlace } from './program-host.ts';
import { StdioFailure } from './stdio-failure.ts';
import { windowsCommand } from './windows.ts';

export interface ProgramOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly place: ProgramPlace;
  readonly command: string;
  readonly args: readonly string[];
  /** All of it (`programEnvironment`). */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly cwd: string | undefined;
}

/** How the program itself ended; both `null` when nothing ever ran. */
export interface ProgramExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Program {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Of the program itself; what it started may still run. */
  readonly exited: Promise<ProgramExit>;
  /**
   * Ends it and all it started: its stdin is closed, and when it does not go by itself, SIGTERM and then SIGKILL go to the whole tree. Resolves when
   * nothing of it runs; safe to call twice.
   */
  end(): Promise<void>;
}

/** Milliseconds a program has to go when its stdin is closed, and again after SIGTERM. */
const LEAVE_WAIT_MS = 2_000;

const IS_WINDOWS = process.platform === 'win32';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts a program in a process group and session of its own, without a shell. Rejects with a `StdioFailure` that names the command. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const { place } = options;
  let child: Child;
  try {
    child = spawnChild(options);
  } catch (error) {
    // A text with a NUL in it, or arguments of the wrong size.
    place.leave();
    throw await startFailure(options, error);
  }
  const exited = new Promise<ProgramExit>(resolve => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  // Before anything else happens: what kills the platform now must not leave this one behind.
  if (child.pid !== undefined) place.watch(treeOf(child.pid));
  // The program may close its streams when it likes; what it costs is known from writing and from its end.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => undefined);
  const error = await new Promise<unknown>(resolve => {
    child.once('spawn', () => resolve(undefined));
    child.on('error', resolve);
  });
  if (error !== undefined) {
    place.leave();
    throw await startFailure(options, error);
  }
  let ending: Promise<void> | undefined;
  return {
    pid: child.pid!,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited,
    end: () => (ending ??= endProgram(child, exited, options)),
  };
}

function spawnChild(options: ProgramOptions): Child {
  const { command, args, cwd, environment } = options;
  const {
    file,
    args: passed,
    verbatim,
  } = IS_WINDOWS
    ? windowsCommand({ command, args, cwd, path: environment.PATH, isFile: existsSync })
    : { file: command, args, verbatim: false };
  return spawn(file, passed, {
    cwd,
    env: environment,
    stdio: ['pipe', 'pipe', 'pipe'],
    shell: false,
    // A process group and session of its own. On Windows it would be a console of its own instead.
    detached: !IS_WINDOWS,
    windowsHide: true,
    windowsVerbatimArguments: verbatim,
  });
}

async function endProgram(
  child: Child,
  exited: Promise<ProgramExit>,
  options: ProgramOptions,
): Promise<void> {
  const { clock, logger, place, command } = options;
  // While it runs, it can be seen what came from it.
  await place.look();
  child.stdin.end();
  await within(exited, LEAVE_WAIT_MS, clock);
  const left = place.tree ? await endTree(place.tree, { clock, termWaitMs: LEAVE_WAIT_MS }) : [];
  if (left.length > 0) logger.error('processes of a program could not be ended', { command, pids: left });
  else await exited;
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  place.leave();
}

/** What was waited for, or `undefined` when that takes longer. */
export async function within<T>(something: Promise<T>, ms: number, clock: Clock): Promise<T | undefined> {
  const over = new AbortController();
  const time = clock.sleep(ms, over.signal).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([something, time]);
  } finally {
    over.abort();
  }
}

async function startFailure(options: ProgramOptions, cause: unknown): Promise<StdioFailure> {
  const { command } = options;
  const why = await whyNotStarted(options, (cause as NodeJS.ErrnoException).code);
  const message = `the command ${JSON.stringify(command)} could not be started: ${why}`;
  return new StdioFailure('not-started', 'no', message, { cause });
}

async function whyNotStarted(options: ProgramOptions, code: string | undefined): Promise<string> {
  const { command, cwd, environment } = options;
  if (cwd !== undefined && !(await isFolder(cwd)))
    return `its working folder ${JSON.stringify(cwd)} is not there`;
  const isPath = command.includes('/');
  switch (code) {
    case 'ENOENT':
      if (isPath && (await isThere(command))) return 'the program its first line names is not there';
      return isPath
        ? 'there is no such file'
        : `it is in no folder of PATH (${environment.PATH ?? 'not set'})`;
    case 'EACCES':
      return 'it may not be run: it is no program, or this user has no right to';
    case 'E2BIG':
      return 'its arguments and its environment are too long';
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return `the machine has no room for another process (${code})`;
    default:
      return code ?? 'its arguments or its environment hold a character that none may hold';
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    found => found.isDirectory(),
    () => false,
  );
}

function isThere(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}
