import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EngineName, openTestStore, type TestStore } from '@patchbay/testing/stores';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { createLogger, type Logger } from '../../packages/server/src/kernel/logger.ts';
import { parseVaultKey, type VaultKey } from '../../packages/server/src/kernel/vault-key.ts';
import { createVault, type Vault } from '../../packages/server/src/secrets/vault.ts';
import type { VaultKeyOptions } from '../../packages/server/src/secrets/vault-keys.ts';
import { openStore } from '../../packages/server/src/store/open-store.ts';
import type { Store } from '../../packages/server/src/store/store.ts';

export const newVaultKey = (): VaultKey => parseVaultKey(randomBytes(32).toString('base64'))!;

/** A database with as many nodes as a test wants. */
export interface VaultRig extends AsyncDisposable {
  readonly store: TestStore;
  readonly folder: string;
  readonly log: string[];
  /** One more node, as after a start: on PostgreSQL with a connection of its own. */
  node(options?: NodeOptions): Promise<Vault & { readonly store: Store }>;
}

interface NodeOptions extends Partial<VaultKeyOptions> {
  readonly now?: () => number;
  /** Stands in for the store's own. */
  readonly commit?: Store['commit'];
}

export async function startVaultRig(engine: EngineName, key: VaultKey | undefined): Promise<VaultRig> {
  await using undo = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-vault-'));
  undo.defer(() => rm(folder, { recursive: true }));
  const store = undo.use(await openTestStore(engine));
  const log: string[] = [];
  const logger: Logger = createLogger({
    level: 'debug',
    format: 'json',
    destination: { write: line => log.push(line) },
    clock: systemClock,
  });
  const held = undo.move();
  return {
    store,
    folder,
    log,
    async node({ now = Date.now, commit, ...keys } = {}) {
      const own =
        engine === 'postgres' ? held.adopt(await openStore(store.options), open => open.close()) : store;
      const used = commit ? { ...own, commit } : own;
      const vault = createVault({
        store: used,
        clock: { ...systemClock, now },
        logger,
        keys: { key, previousKey: undefined, file: undefined, ...keys },
      });
      await vault.start();
      return { ...vault, store: own };
    },
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

/** The value, or how it was refused. */
export async function valueIn(vault: Vault, name: string, agentId = 'anyone'): Promise<string> {
  const opened = await vault.open(name, agentId).catch((error: { code?: string; kind?: string }) => ({
    kind: error.code ?? error.kind ?? String(error),
  }));
  return 'value' in opened ? opened.value : opened.kind;
}
