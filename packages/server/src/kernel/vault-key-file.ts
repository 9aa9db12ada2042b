import { readFile } from 'node:fs/promises';
import { PlatformError } from './errors.ts';
import { parseVaultKey, type VaultKey } from './vault-key.ts';

/** In the data folder, beside the embedded store. */
export const VAULT_KEY_FILE = 'vault-key';

/** `undefined` when there is no such file. Rejects with a `PlatformError` of kind `disabled` when it is there and holds no key. */
export async function readVaultKeyFile(file: string): Promise<VaultKey | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new PlatformError('disabled', `The vault key in ${file} cannot be read by this user.`, { cause });
  }
  const key = parseVaultKey(text);
  if (key) return key;
  throw new PlatformError('disabled', `${file} holds no vault key: put the file back as it was made.`);
}
