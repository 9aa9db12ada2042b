import type { Readable, Writable } from 'node:stream';
import type { Installation, Surroundings } from '@patchbay/server/doctor';
import type { lintAgentFile, modelNeeds } from '@patchbay/server/lint';
import type { RunningPatchbay, StartOptions } from '@patchbay/server/main';

/** Everything a command touches outside itself, so tests can drive commands as functions. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
  readonly osPlatform: NodeJS.Platform;
  /** Of the Node that runs this, without `v`. */
  readonly nodeVersion: string;
  readonly fetch: typeof fetch;
  /** Epoch ms. */
  readonly now: () => number;
  readonly signals: Signals;
  /** How a program without our path or Node starts this command line: an absolute command and its first arguments. */
  readonly self: { readonly command: string; readonly args: readonly string[] };
  readonly startPlatform: StartPlatform;
  readonly examineInstallation: ExamineInstallation;
  readonly lintAgentFile: typeof lintAgentFile;
  readonly modelNeeds: typeof modelNeeds;
}

/** Where Ctrl-C and `kill` arrive; `process` is one. */
export interface Signals {
  on(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP', listener: () => void): unknown;
  off(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP', listener: () => void): unknown;
}

/** `startPatchbay` of the server. */
export type StartPlatform = (options: StartOptions) => Promise<RunningPlatform>;

/** A platform as the command line knows it: by its addresses, not by its parts. */
export type RunningPlatform = Omit<RunningPatchbay, 'platform'>;

/** `examineInstallation` of the server. */
export type ExamineInstallation = (surroundings: Surroundings) => Promise<Installation>;
