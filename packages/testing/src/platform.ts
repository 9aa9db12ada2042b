import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Role } from '@patchbay/contract/roles';
import type { Platform, PlatformOverrides } from '@patchbay/server';
import { startPatchbay } from '@patchbay/server/main';

/** One process of a platform, in this one, on a free loopback port. */
export interface TestNode {
  /** Where it listens, whatever its public address is. */
  readonly url: string;
  readonly operatorUrl: string;
  agentUrl(agentId: string): string;
  readonly dataDir: string;
  /** The token the local command line uses. */
  readonly ownerToken: string;
  /** The parts, for what no door shows. */
  readonly platform: Platform;
  /** What was logged so far, one JSON object a line. */
  logLines(): Record<string, unknown>[];
  close(): Promise<void>;
}

/** A platform of its own, as `npm start` would make it, with a key for each door. */
export interface TestPlatform extends TestNode {
  /** An `oag_` of the owner with both scopes. */
  readonly operatorKey: string;
  /** A `bak_` for the demo agent. */
  readonly agentKey: string;
  /** A new person with exactly these roles, and an operator key that acts as them. */
  addPerson(roles: readonly Role[]): Promise<{ readonly userId: string; readonly key: string }>;
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
  const node = await startTestNode(options);
  return { ...node, ...(await keysFor(node.platform)) };
}

export async function startTestNode(options: TestPlatformOptions = {}): Promise<TestNode> {
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
  const { token: ownerToken, ...local } = JSON.parse(
    await readFile(join(dataDir, 'local-owner'), 'utf8'),
  ) as { token: string; url: string; operatorUrl: string };
  return {
    url: local.url,
    operatorUrl: local.operatorUrl,
    agentUrl: agentId => `${local.url}/${agentId}/mcp`,
    dataDir,
    ownerToken,
    platform: running.platform,
    logLines: () => log.flatMap(text => text.split('\n').filter(Boolean)).map(line => JSON.parse(line)),
    async close() {
      await running.stop();
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A key for each door, and people with keys: once a platform, however many nodes it has. */
export async function keysFor(
  platform: Platform,
): Promise<Pick<TestPlatform, 'operatorKey' | 'agentKey' | 'addPerson'>> {
  const { keys, users, owner } = platform;
  const scopes = ['agents', 'operator'] as const;
  const operatorKey = await keys.createUserKey(owner.id, { name: 'test operator', scopes });
  const ownerPrincipal = {
    id: owner.id,
    roles: new Set(owner.roles),
    via: 'cli',
    credential: 'test',
    agents: { kind: 'own' },
  } as const;
  const agentKey = await keys.createAgentKey(ownerPrincipal, { agentId: 'demo', name: 'test agent' });
  return {
    operatorKey: operatorKey.token,
    agentKey: agentKey.token,
    async addPerson(roles) {
      const person = await users.add({ name: roles.join(' ') || 'nobody', roles });
      const minted = await keys.createUserKey(person.id, { name: 'test', scopes });
      return { userId: person.id, key: minted.token };
    },
  };
}
