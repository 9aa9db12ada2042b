import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Role } from '@patchbay/contract/roles';
import type { Platform, PlatformOverrides } from '@patchbay/server';
import { startPatchbay } from '@patchbay/server/main';

/** A platform of its own on a free loopback port, as `npm start` would make it, with a key for each door. */
export interface TestPlatform {
  readonly url: string;
  readonly operatorUrl: string;
  agentUrl(agentId: string): string;
  readonly dataDir: string;
  /** The token the local command line uses. */
  readonly ownerToken: string;
  /** An `oag_` of the owner with both scopes. */
  readonly operatorKey: string;
  /** A `bak_` for the demo agent. */
  readonly agentKey: string;
  /** The parts, for what no door shows. */
  readonly platform: Platform;
  /** What was logged so far, one JSON object a line. */
  logLines(): Record<string, unknown>[];
  /** A new person with exactly these roles, and an operator key that acts as them. */
  addPerson(roles: readonly Role[]): Promise<{ readonly userId: string; readonly key: string }>;
  close(): Promise<void>;
}

export interface TestPlatformOptions {
  /** A PostgreSQL database nobody else uses; embedded SQLite without one. */
  readonly databaseUrl?: string;
  /** Settings besides the port and the data folder. */
  readonly env?: Readonly<Record<string, string>>;
  readonly overrides?: PlatformOverrides;
  /** Kept after closing, to start again on it. */
  readonly dataDir?: string;
}

export async function startTestPlatform(options: TestPlatformOptions = {}): Promise<TestPlatform> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'patchbay-test-')));
  const log: string[] = [];
  const running = await startPatchbay(
    {
      env: {
        PATCHBAY_PORT: '0',
        PATCHBAY_DATA_DIR: dataDir,
        PATCHBAY_LOG_FORMAT: 'json',
        ...(options.databaseUrl !== undefined && { PATCHBAY_DATABASE_URL: options.databaseUrl }),
        ...options.env,
      },
      home: dataDir,
      cwd: dataDir,
      logTo: { write: line => log.push(line) },
      interactive: false,
    },
    options.overrides,
  );
  const { platform } = running;
  const { token: ownerToken } = JSON.parse(await readFile(join(dataDir, 'local-owner'), 'utf8')) as {
    token: string;
  };
  const operatorKey = await platform.keys.createUserKey(platform.owner.id, {
    name: 'test operator',
    scopes: ['agents', 'operator'],
  });
  const owner = {
    id: platform.owner.id,
    roles: new Set(platform.owner.roles),
    via: 'cli',
    credential: 'test',
    agents: { kind: 'own' },
  } as const;
  const agentKey = await platform.keys.createAgentKey(owner, { agentId: 'demo', name: 'test agent' });

  return {
    url: running.url,
    operatorUrl: running.operatorUrl,
    agentUrl: running.agentUrl,
    dataDir,
    ownerToken,
    operatorKey: operatorKey.token,
    agentKey: agentKey.token,
    platform,
    logLines: () => log.flatMap(text => text.split('\n').filter(Boolean)).map(line => JSON.parse(line)),
    async addPerson(roles) {
      const person = await platform.users.add({ name: roles.join(' ') || 'nobody', roles });
      const minted = await platform.keys.createUserKey(person.id, {
        name: 'test',
        scopes: ['agents', 'operator'],
      });
      return { userId: person.id, key: minted.token };
    },
    async close() {
      await running.stop();
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}
