import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseVaultKey, type VaultKey } from '../kernel/vault-key.ts';
import { readVaultKeyFile } from '../kernel/vault-key-file.ts';

/** Where the vault key comes from. */
export interface VaultKeyOptions {
  /** The setting `vault.key`. */
  readonly key: VaultKey | undefined;
  /** The setting `vault.previousKey`: it still opens, until what it opens is encrypted with the other one. */
  readonly previousKey: VaultKey | undefined;
  /** Beside the embedded store, where the key lies without the setting. `undefined` with PostgreSQL. */
  readonly file: string | undefined;
}

/** The vault keys of this process. */
export interface VaultKeys {
  /** The one in use; `undefined` while there is none. Rejects with a `PlatformError` when the file holds something else. */
  current(): Promise<VaultKey | undefined>;
  /** The one in use, made where this installation keeps it in a file. `undefined` while the vault is off. */
  make(): Promise<VaultKey | undefined>;
  readonly previous: VaultKey | undefined;
}

export function createVaultKeys({ key, previousKey, file }: VaultKeyOptions): VaultKeys {
  let known = key;
  let making: Promise<VaultKey> | undefined;

  async function current(): Promise<VaultKey | undefined> {
    if (!known && file !== undefined) known = await readVaultKeyFile(file);
    return known;
  }

  return {
    current,
    previous: previousKey,
    async make() {
      const present = await current();
      if (present || file === undefined) return present;
      making ??= writeVaultKeyFile(file).finally(() => {
        making = undefined;
      });
      known = await making;
      return known;
    },
  };
}

/** On the disk before it is used: what is encrypted with a key that a power cut takes away is lost. */
async function writeVaultKeyFile(file: string): Promise<VaultKey> {
  const text = randomBytes(32).toString('base64');
  const draft = `${file}.new`;
  await rm(draft, { force: true });
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${text}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
  return parseVaultKey(text)!;
}
