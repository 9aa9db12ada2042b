import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient } from '@patchbay/contract/client';
import { CliError, EXIT, usageError } from './cli-error.ts';
import { dataDir } from './data-dir.ts';
import type { Io } from './io.ts';

const DEFAULT_URL = 'http://127.0.0.1:7070';

/** The options of every command that talks to a platform. */
export interface ConnectionOptions {
  readonly url?: string | undefined;
  readonly key?: string | undefined;
}

interface Addresses {
  /** Without a slash at the end. */
  readonly baseUrl: string;
  /** The operator door. The platform of this machine says where it is; at any other address it is `/mcp`. */
  readonly operatorUrl: string;
}

/** A platform and the credential to use there. */
export interface Connection extends Addresses {
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

/**
 * Which platform, as whom (decisions.md 2). With nothing given: the one running on this machine, as its owner. The owner's
 * token is only ever sent to the address that stands beside it.
 */
export async function findConnection(io: Io, options: ConnectionOptions): Promise<Connection> {
  const url = givenUrl(io, options);
  const key = givenKey(io, options);
  if (url !== undefined) return { ...usualAddresses(url), token: key, asLocalOwner: false };
  const owner = await readLocalOwner(io);
  if (key !== undefined) {
    return { ...(owner?.addresses ?? usualAddresses(DEFAULT_URL)), token: key, asLocalOwner: false };
  }
  if (owner) return { ...owner.addresses, token: owner.token, asLocalOwner: true };
  throw new CliError(
    EXIT.unreachable,
    `No platform runs with the data folder ${dataDir(io)}; start one with \`npx patchbay up\`, or name one with --url and --key.`,
  );
}

function usualAddresses(baseUrl: string): Addresses {
  return { baseUrl, operatorUrl: `${baseUrl}/mcp` };
}

export async function connect(
  io: Io,
  options: ConnectionOptions,
): Promise<Connection & { readonly client: Client }> {
  const connection = await findConnection(io, options);
  return { ...connection, client: createClient({ ...connection, fetch: io.fetch }) };
}

interface LocalOwner {
  readonly addresses: Addresses;
  readonly token: string;
}

/** What the running platform left for us; `undefined` when there is none. */
async function readLocalOwner(io: Io): Promise<LocalOwner | undefined> {
  const file = join(dataDir(io), 'local-owner');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new CliError(
      EXIT.notAllowed,
      `${file} cannot be read; run this as the user who runs the platform, or give --key.`,
      { cause },
    );
  }
  try {
    const { url, operatorUrl, token } = JSON.parse(text);
    if (URL.canParse(url) && URL.canParse(operatorUrl) && typeof token === 'string' && token !== '') {
      return { addresses: { baseUrl: url.replace(/\/+$/, ''), operatorUrl }, token };
    }
  } catch {
    // Falls to the sentence below, as any other content that is not ours.
  }
  throw new CliError(EXIT.failed, `${file} is not what a platform writes there; start the platform again.`);
}
