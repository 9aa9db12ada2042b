import type { Contents, Installation, Remark } from '@patchbay/server/doctor';
import type { ConnectionOptions } from '../connection.ts';
import { givenUrl } from '../connection.ts';
import type { Io } from '../io.ts';
import { type AskedPlatform, askPlatform } from './asked-platform.ts';

/** What the checks judge: gathered once, then read by all of them. */
export interface Examination {
  readonly io: Io;
  /** The installation of this machine; `undefined` when another platform was named. */
  readonly installation: Installation | undefined;
  /** The platform that was named, or that the data folder says is running. */
  readonly platform: AskedPlatform;
  /** Read from the database where that can be, else told by the platform. */
  readonly contents: Contents | undefined;
}

/** One thing that can be wrong. It finds nothing to say where there is nothing to look at. */
export interface Check {
  readonly name: string;
  run(examination: Examination): readonly Remark[] | Promise<readonly Remark[]>;
}

export async function examine(io: Io, options: ConnectionOptions): Promise<Examination> {
  const { env, home, cwd, osPlatform, now } = io;
  const isElsewhere = givenUrl(io, options) !== undefined;
  const [installation, platform] = await Promise.all([
    isElsewhere ? undefined : io.examineInstallation({ env, home, cwd, osPlatform, now }),
    askPlatform(io, options),
  ]);
  const told = platform.kind === 'asked' ? platform.contents : undefined;
  return { io, installation, platform, contents: installation?.contents ?? told };
}
