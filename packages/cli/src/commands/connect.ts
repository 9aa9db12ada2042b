import type { Client } from '@patchbay/contract/client';
import { isAgentId } from '@patchbay/contract/ids';
import { Argument, type Command } from 'commander';
import { usageError } from '../cli-error.ts';
import { connect as connectTo, givenKey, givenUrl } from '../connection.ts';
import { dataDir, defaultDataDir } from '../data-dir.ts';
import { readEntry, type WrittenEntry, writeEntry } from '../hosts/config-file.ts';
import {
  type Access,
  entryName,
  HOSTS,
  type Host,
  type HostName,
  hostEntry,
  stdioAccess,
} from '../hosts/hosts.ts';
import type { Io } from '../io.ts';
import { addSharedOptions, type SharedOptions, sharedOptions } from '../shared-options.ts';
import { day, writeJson, writeLine } from '../text.ts';

interface ConnectOptions extends SharedOptions {
  readonly agent?: string;
  readonly write?: boolean;
  readonly withKey?: boolean;
}

export function addConnect(program: Command, io: Io): void {
  addSharedOptions(program.command('connect'))
    .description("print an MCP host's entry for this platform, or write it into its configuration")
    .addArgument(new Argument('<host>').choices(Object.keys(HOSTS)))
    .option('--agent <id>', 'connect one agent instead of the whole platform')
    .option('--with-key', 'make a key for the host instead of signing in there')
    .option('--write', "merge the entry into the host's file; the file as it was is kept beside it")
    .addHelpText(
      'after',
      `
The entry holds no key: the host opens a page on which you sign in and allow it what it may use. With --with-key one is made for
the host, for where no browser is; a key you give with --key goes into the entry as it is.
Claude Desktop starts \`npx patchbay stdio\` instead; on this machine that needs no key.

Examples:
  npx patchbay connect claude-code
  npx patchbay connect cursor --agent demo --write
  npx patchbay connect vscode --with-key
  npx patchbay connect claude-desktop --write`,
    )
    .action(async (host: HostName, _: unknown, command: Command) =>
      connect(io, host, sharedOptions(command) as ConnectOptions),
    );
}

async function connect(io: Io, hostName: HostName, options: ConnectOptions): Promise<void> {
  const host: Host = HOSTS[hostName];
  const agentId = options.agent;
  if (agentId !== undefined && !isAgentId(agentId)) throw usageError(`'${agentId}' is no id of an agent.`);
  const name = entryName(agentId);
  const file = host.configFile(io);
  // Looked at before a key is made, so a file that cannot be merged costs none.
  const existing = options.write ? await readEntry(file, host.member, name) : undefined;
  const access =
    host.speaks === 'stdio'
      ? stdioAccess(io, agentId, stdioEnvironment(io, options))
      : await httpAccess(io, hostName, options, existing);
  const entry = hostEntry(access, host.httpExtras);
  const written = options.write ? await writeEntry(file, host.member, name, entry, io.now()) : undefined;
  if (options.json) return writeJson(io.stdout, { host: hostName, name, entry, ...(written ?? { file }) });
  if (written) return sayWritten(io, { host, name, access, existing }, written);
  writeJson(io.stdout, { [host.member]: { [name]: entry } });
  writeLine(io.stderr, `This belongs into ${file}; --write puts it there.`);
  if (signsIn(access)) writeLine(io.stderr, howToSignIn(host));
}

/** Does the host's person sign in, so that the entry holds no key? */
function signsIn(access: Access): boolean {
  return access.kind === 'http' && access.key === undefined;
}

function howToSignIn({ signIn }: Host): string {
  return `${signIn} The page of Patchbay that opens asks who you are and what it may use; without a password, sign in there before with \`npx patchbay sign-in\`.`;
}

/** What the bridge cannot find by itself when the host starts it: another data folder, or another machine. */
function stdioEnvironment(io: Io, options: ConnectOptions): Record<string, string> {
  const url = givenUrl(io, options);
  const key = givenKey(io, options);
  // Absolute: the host starts the bridge wherever it likes.
  const folder = dataDir(io);
  const isElsewhere = url === undefined && folder !== defaultDataDir(io);
  return {
    ...(isElsewhere ? { PATCHBAY_DATA_DIR: folder } : {}),
    ...(url === undefined ? {} : { PATCHBAY_URL: url }),
    ...(key === undefined ? {} : { PATCHBAY_KEY: key }),
  };
}

async function httpAccess(
  io: Io,
  hostName: HostName,
  options: ConnectOptions,
  existing: unknown,
): Promise<Access & { kind: 'http' }> {
  const { baseUrl, operatorUrl, client } = await connectTo(io, options);
  const url = options.agent === undefined ? operatorUrl : `${baseUrl}/${options.agent}/mcp`;
  const given = givenKey(io, options);
  const host: Host = HOSTS[hostName];
  if (given !== undefined || (!options.withKey && host.signIn !== undefined)) {
    return { kind: 'http', url, key: given };
  }
  const key = (await keyInUse(client, existing, url)) ?? (await makeKey(io, client, hostName, options.agent));
  return { kind: 'http', url, key };
}

/** The key of an entry that already points here, while it is active: connecting twice makes one key, not two. */
async function keyInUse(client: Client, existing: unknown, url: string): Promise<string | undefined> {
  const key = keyIn(existing);
  if (key === undefined || (existing as { url?: unknown }).url !== url) return undefined;
  const { keys } = await client.call('list_keys', {});
  return keys.some(active => key.startsWith(active.prefix)) ? key : undefined;
}

function keyIn(existing: unknown): string | undefined {
  const entry = existing as { headers?: { Authorization?: unknown } } | undefined;
  const header = entry?.headers?.Authorization;
  return typeof header === 'string' ? /^Bearer (\S+)$/.exec(header)?.[1] : undefined;
}

async function makeKey(
  io: Io,
  client: Client,
  hostName: HostName,
  agentId: string | undefined,
): Promise<string> {
  const made =
    agentId === undefined
      ? await client.call('create_key', { name: hostName, scopes: ['operator'] })
      : await client.call('create_agent_key', { agentId, name: hostName });
  const expires = made.expiresOn === undefined ? '' : `, expires ${day(made.expiresOn)}`;
  writeLine(
    io.stderr,
    `Made key ${made.id} for ${HOSTS[hostName].title}${expires}. End it with: npx patchbay keys revoke ${made.id}`,
  );
  return made.key;
}

function sayWritten(
  io: Io,
  { host, name, access, existing }: { host: Host; name: string; access: Access; existing: unknown },
  written: WrittenEntry,
): void {
  if (written.change === 'unchanged') {
    writeLine(io.stdout, `${written.file} already has this entry ${name}; nothing was changed.`);
    return;
  }
  const verb = written.change === 'added' ? 'Added' : 'Replaced';
  writeLine(io.stdout, `${verb} ${name} in ${written.file}. ${host.afterWrite}`);
  if (signsIn(access)) {
    writeLine(io.stdout, howToSignIn(host));
    if (keyIn(existing) !== undefined) {
      writeLine(io.stdout, 'The entry held a key, which goes on: `npx patchbay keys list` shows it.');
    }
  }
  if (written.backup) writeLine(io.stdout, `The file as it was: ${written.backup}`);
}
