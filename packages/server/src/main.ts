import { randomBytes, randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ServerType } from '@hono/node-server';
import { serve } from '@hono/node-server';
import manifest from '../package.json' with { type: 'json' };
import { importConfigScript } from './config/config-script.ts';
import { loadConfig } from './config/load-config.ts';
import { configSignature, watchConfig } from './config/watch-config.ts';
import { systemClock } from './kernel/clock.ts';
import { PlatformError } from './kernel/errors.ts';
import { createLogger, type LogDestination } from './kernel/logger.ts';
import { VAULT_KEY_FILE } from './kernel/vault-key-file.ts';
import { createPlatform, DRAIN_MS, type Platform, type PlatformOverrides } from './platform.ts';
import { createLogBuffer } from './records/log-buffer.ts';
import { lockDataFolder } from './store/data-folder-lock.ts';

export interface StartOptions {
  /** The process environment, or what stands in for it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
  readonly logTo: LogDestination;
  /** A person is looking: the first start mints a key to show them. */
  readonly interactive: boolean;
}

/** A platform that answers. */
export interface RunningPatchbay {
  readonly url: string;
  readonly operatorUrl: string;
  agentUrl(agentId: string): string;
  readonly dataDir: string;
  readonly firstStart: boolean;
  /** Minted at the first start when a person is looking. Shown once, kept nowhere. */
  readonly firstKey: string | undefined;
  /** An address that signs the owner in, made likewise: good once, for ten minutes. */
  readonly firstSignIn: string | undefined;
  readonly authOff: boolean;
  readonly platform: Platform;
  /** Takes no new requests, lets running ones and turns end, and frees the data folder. */
  stop(): Promise<void>;
}

/** A turn that is ended when the drain time is over still answers its caller. */
const LAST_ANSWERS_MS = 1_000;

/** Environment → config → platform → listen. Rejects with a `PlatformError` that says in one sentence what to mend. */
export async function startPatchbay(
  options: StartOptions,
  overrides: PlatformOverrides = {},
): Promise<RunningPatchbay> {
  const signature = await configSignature(options);
  const loaded = loadConfig({ ...options, script: await importConfigScript(options) });
  const { config, secrets, warnings } = loaded;
  const logBuffer = createLogBuffer();
  const logger = createLogger({
    ...config.log,
    destination: options.logTo,
    clock: systemClock,
    onLine: logBuffer.add,
  });
  for (const warning of warnings) logger.warn(warning);

  await using undo = new AsyncDisposableStack();
  const folder = undo.use(await lockDataFolder(config.dataDir));
  const localOwnerToken = randomBytes(32).toString('hex');
  const platform = await createPlatform(
    {
      config,
      configuredServers: loaded.servers,
      configuredAgents: loaded.agents,
      version: manifest.version,
      database:
        secrets.databaseUrl === undefined
          ? { kind: 'sqlite', file: join(folder.folder, 'patchbay.db') }
          : { kind: 'postgres', url: secrets.databaseUrl },
      vaultKeys: {
        key: secrets.vaultKey,
        previousKey: secrets.previousVaultKey,
        file: secrets.databaseUrl === undefined ? join(folder.folder, VAULT_KEY_FILE) : undefined,
      },
      oidcClientSecret: secrets.oidcClientSecret,
      environment: secrets.environment,
      programEnvironment: options.env,
      nodeId: await nodeIdOf(folder.folder),
      localOwnerToken,
      logger,
      logBuffer,
    },
    overrides,
  );
  undo.defer(() => platform.close());

  undo.defer(
    watchConfig({
      ...{ sources: options, loaded, signature, logger, clock: systemClock },
      apply: platform.configure,
    }),
  );
  const server = await listen(platform, config.host, config.port);
  undo.defer(async () => {
    platform.endStreams();
    // Both at once: a turn that nobody waits for any more has no request that would be waited for.
    await Promise.all([stopListening(server), platform.turns.close(DRAIN_MS)]);
  });
  const local = localUrl(server);
  platform.listensAt(local);
  const url = config.publicUrl ?? local;
  // Not before: a start that finds its port taken would leave a key behind that nobody has seen.
  const isShown = platform.firstStart && options.interactive;
  const firstKey = isShown ? await makeFirstKey(platform, config.keys.operatorScope === 'allow') : undefined;
  const firstSignIn = isShown ? (await platform.links.make(platform.owner.id, 'sign-in')).url : undefined;
  const ownerFile = join(folder.folder, 'local-owner');
  await writePrivate(
    ownerFile,
    JSON.stringify({ url: local, operatorUrl: local + config.operatorDoor.path, token: localOwnerToken }),
  );
  undo.defer(() => rm(ownerFile, { force: true }));

  const running = undo.move();
  logger.info('Patchbay is ready', { url, dataDir: config.dataDir, engine: platform.store.engine.kind });
  return {
    url,
    operatorUrl: url + config.operatorDoor.path,
    agentUrl: agentId => `${url}/${agentId}/mcp`,
    dataDir: config.dataDir,
    firstStart: platform.firstStart,
    firstKey,
    firstSignIn,
    authOff: config.auth === 'off',
    platform,
    stop: () => running.disposeAsync(),
  };
}

async function makeFirstKey(
  { keys, owner, noteStart }: Platform,
  opensOperatorDoor: boolean,
): Promise<string> {
  const { token, record } = await keys.createUserKey(owner.id, {
    name: 'first start',
    scopes: opensOperatorDoor ? ['agents', 'operator'] : ['agents'],
  });
  await noteStart('create_key', { id: record.id });
  return token;
}

function listen(platform: Platform, hostname: string, port: number): Promise<ServerType> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: platform.app.fetch, hostname, port }, () => resolve(server));
    server.once('error', error => reject(cannotListen(error, hostname, port)));
  });
}

/** Why the listener did not open, in a sentence that says what to mend; anything else as it came. */
function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number): Error {
  const noAddress = `${host} is no address of this machine: correct PATCHBAY_HOST, or leave it out to listen on 127.0.0.1.`;
  const sentences: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} on ${host} is in use, perhaps by a Patchbay that already runs: stop that program, or choose another port with PATCHBAY_PORT (0 takes a free one).`,
    EACCES: `Port ${port} may not be used by this user: choose one above 1023 with PATCHBAY_PORT.`,
    EADDRNOTAVAIL: noAddress,
    ENOTFOUND: noAddress,
  };
  const sentence = sentences[cause.code ?? ''];
  return sentence === undefined ? cause : new PlatformError('unavailable', sentence, { cause });
}

async function stopListening(server: ServerType): Promise<void> {
  const closed = new Promise<void>(resolve => server.close(() => resolve()));
  if ('closeIdleConnections' in server) server.closeIdleConnections();
  const late = setTimeout(
    () => 'closeAllConnections' in server && server.closeAllConnections(),
    DRAIN_MS + LAST_ANSWERS_MS,
  );
  await closed;
  clearTimeout(late);
}

/** Where programs on this machine reach the listener. */
function localUrl(server: ServerType): string {
  const { address, port, family } = server.address() as AddressInfo;
  const host =
    address === '0.0.0.0' || address === '::' ? '127.0.0.1' : family === 'IPv6' ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

/** The same after a restart, so that this node frees the leases it held before. */
async function nodeIdOf(folder: string): Promise<string> {
  const file = join(folder, 'node-id');
  const existing = await readFile(file, 'utf8').catch(() => '');
  if (existing.trim() !== '') return existing.trim();
  const id = `node_${randomUUID()}`;
  await writePrivate(file, id);
  return id;
}

/** For the owner's eyes only, and never half written. */
async function writePrivate(file: string, text: string): Promise<void> {
  const draft = `${file}.new`;
  await rm(draft, { force: true });
  await writeFile(draft, text, { mode: 0o600, flag: 'wx' });
  await rename(draft, file);
}
