import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Client, createClient } from '@patchbay/contract/client';
import { CliError, EXIT, usageError } from './cli-error.ts';
import type { Io } from './io.ts';

const DEFAULT_URL = 'http://127.0.0.1:7070';

/** The options of every command that talks to a platform. */
export interface ConnectionOptions {
  readonly url?: string | undefined;
  readonly key?: string | undefined;
}

/** A platform and the credential to use there. */
export interface Connection {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly token: string | undefined;
  /** The credential is the running platform's own owner, not a key somebody gave. */
  readonly asLocalOwner: boolean;
}

/** The key somebody named for this command, from `--key` or `PATCHBAY_KEY`. */
export function givenKey(io: Io, options: ConnectionOptions): string | undefined {
  return options.key ?? (io.env.PATCHBAY_KEY || undefined);
}

/** The address somebody named for this command, from `--url` or `PATCHBAY_URL`. */
export function givenUrl(io: Io, options: ConnectionOptions): string | undefined {
  const url = options.url ?? (io.env.PATCHBAY_URL || undefined);
  if (url === undefined) return undefined;
  if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url)) {
    throw usageError(`'${url}' is not an address of a platform; give one such as ${DEFAULT_URL}.`);
  }
  return url.replace(/\/+$/, '');
}

/** The data folder of this machine's platform, read as the platform reads it: `~/` is the home folder. */
export function dataDir(io: Io): string {
  const folder = io.env.PATCHBAY_DATA_DIR || '~/.patchbay';
  return resolve(io.cwd, folder === '~' || folder.startsWith('~/') ? join(io.home, folder.slice(1)) : folder);
}

/**
 * Which platform, as whom (decisions.md 2). With nothing given: the one running on this machine, as its owner. The owner's
 * token is only ever sent to the address that stands beside it.
 */
export async function findConnection(io: Io, options: ConnectionOptions): Promise<Connection> {
  const url = givenUrl(io, options);
  const key = givenKey(io, options);
  if (url !== undefined) return { baseUrl: url, token: key, asLocalOwner: false };
  const owner = await readLocalOwner(io);
  if (key !== undefined) return { baseUrl: owner?.url ?? DEFAULT_URL, token: key, asLocalOwner: false };
  if (owner) return { baseUrl: owner.url, token: owner.token, asLocalOwner: true };
  throw new CliError(
    EXIT.unreachable,
    `No platform has been started with the data folder ${dataDir(io)}; start one with \`patchbay up\`, or name one with --url and --key.`,
  );
}

export async function connect(
  io: Io,
  options: ConnectionOptions,
): Promise<Connection & { readonly client: Client }> {
  const connection = await findConnection(io, options);
  return { ...connection, client: createClient({ ...connection, fetch: io.fetch }) };
}

/** What the running platform left for us; `undefined` when there is none. */
async function readLocalOwner(io: Io): Promise<{ url: string; token: string } | undefined> {
  const file = join(dataDir(io), 'local-owner');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CliError(
      EXIT.notAllowed,
      `${file} cannot be read; run this as the user who runs the platform, or give --key.`,
      {
        cause,
      },
    );
  }
  try {
    const { url, token } = JSON.parse(text);
    if (typeof url === 'string' && URL.canParse(url) && typeof token === 'string' && token !== '') {
      return { url: url.replace(/\/+$/, ''), token };
    }
  } catch {
    // Falls to the sentence below, as any other content that is not ours.
  }
  throw new CliError(EXIT.failed, `${file} is not what a platform writes there; start the platform again.`);
}
