import { type Client, ClientError, createClient } from '@patchbay/contract/client';
import type { Contents } from '@patchbay/server/doctor';
import { CliError } from '../cli-error.ts';
import { type Connection, type ConnectionOptions, findConnection } from '../connection.ts';
import type { Io } from '../io.ts';

/** Whoever does not answer for so long is stuck. Milliseconds. */
const ANSWER_LIMIT = 5_000;

export type AskedPlatform =
  /** There is no address to ask, and why. */
  | { readonly kind: 'unknown'; readonly error: CliError }
  | {
      readonly kind: 'asked';
      readonly connection: Connection;
      readonly identity: Identity;
      /** Its database answers, too. */
      readonly ready: boolean;
      readonly credential: 'accepted' | 'refused' | 'none' | 'not tried';
      readonly contents: Contents | undefined;
    };

/** Who is at an address. */
export type Identity =
  | { readonly kind: 'patchbay'; readonly version: string }
  /** Something answers, or takes connections without answering as a platform does. */
  | { readonly kind: 'stranger' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'nobody' }
  /** Programs that follow the web's rules, this one among them, call no such port: it is another protocol's. */
  | { readonly kind: 'barred' };

/** Asks the platform of this machine, or the one that was named, for all that it tells about itself. */
export async function askPlatform(io: Io, options: ConnectionOptions): Promise<AskedPlatform> {
  let connection: Connection;
  try {
    connection = await findConnection(io, options);
  } catch (error) {
    if (error instanceof CliError) return { kind: 'unknown', error };
    throw error;
  }
  const identity = await identify(io, connection.baseUrl);
  const asked = { kind: 'asked', connection, identity } as const;
  if (identity.kind !== 'patchbay') {
    return { ...asked, ready: false, credential: 'not tried', contents: undefined };
  }
  const ready = await answersWell(io, `${connection.baseUrl}/readyz`);
  if (connection.token === undefined) return { ...asked, ready, credential: 'none', contents: undefined };
  const client = createClient({ ...connection, fetch: io.fetch });
  try {
    return { ...asked, ready, credential: 'accepted', contents: await readContents(client) };
  } catch (error) {
    if (!(error instanceof ClientError) && !isTimeout(error)) throw error;
    const refused = error instanceof ClientError && error.status === 401;
    return { ...asked, ready, credential: refused ? 'refused' : 'not tried', contents: undefined };
  }
}

/** Who listens at an address? The description of its REST surface tells, and needs no credential. */
export async function identify(io: Io, baseUrl: string): Promise<Identity> {
  try {
    const response = await io.fetch(`${baseUrl}/api/v1/openapi.json`, {
      signal: AbortSignal.timeout(ANSWER_LIMIT),
      redirect: 'manual',
    });
    const text = await response.text();
    const { title, version } = parseInfo(text);
    return title === 'Patchbay' && typeof version === 'string'
      ? { kind: 'patchbay', version }
      : { kind: 'stranger' };
  } catch (error) {
    if (isTimeout(error)) return { kind: 'silent' };
    const { code = '', message } = causeOf(error);
    if (message === 'bad port') return { kind: 'barred' };
    return NOBODY.has(code) ? { kind: 'nobody' } : { kind: 'stranger' };
  }
}

const NOBODY = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The network's own words for a failed fetch. */
function causeOf(error: unknown): { readonly code?: string; readonly message?: string } {
  return (error instanceof Error ? (error.cause as object | undefined) : undefined) ?? {};
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

function parseInfo(text: string): { readonly title?: unknown; readonly version?: unknown } {
  try {
    return JSON.parse(text)?.info ?? {};
  } catch {
    return {};
  }
}

async function answersWell(io: Io, url: string): Promise<boolean> {
  return io.fetch(url, { signal: AbortSignal.timeout(ANSWER_LIMIT) }).then(
    async response => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );
}

/** What a platform tells over REST: less than its database, for instance not why an agent cannot run. */
async function readContents(client: Client): Promise<Contents> {
  const signal = AbortSignal.timeout(ANSWER_LIMIT);
  const { keys } = await client.call('list_keys', {}, { signal });
  const { agents } = await client.call('discover_agents', {}, { signal });
  return {
    keys,
    agents: agents.map(({ agentId, environment, version, status }) => {
      const broken = status === 'ERROR' ? 'the log of the platform says why' : undefined;
      return { agentId, environment, version, broken };
    }),
  };
}
