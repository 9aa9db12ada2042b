import { PlatformError } from '../kernel/errors.ts';
import type { VaultKey } from '../kernel/vault-key.ts';
import { readVaultKeyFile } from '../kernel/vault-key-file.ts';
import type { Remark } from './finding.ts';

/** Is there a vault key, and is it the one that the database needs? Shows no part of it. */
export async function examineVault(
  options: {
    readonly key: VaultKey | undefined;
    readonly previousKey: VaultKey | undefined;
    /** Where the key lies without the setting; `undefined` with PostgreSQL. */
    readonly file: string | undefined;
  },
  /** Ids of the vault keys that open what is in the database; `undefined` where it cannot be read. */
  needed: readonly string[] | undefined,
): Promise<readonly Remark[]> {
  const { key, previousKey, file } = options;
  let own: VaultKey | undefined = key;
  try {
    if (!own && file !== undefined) own = await readVaultKeyFile(file);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    return [{ verdict: 'problem', says: error.message }];
  }
  if (needed === undefined) return [];
  if (needed.length === 0) return [beforeTheFirst(own, file)];
  if (!own) return [missing(file)];
  const strange = needed.filter(id => id !== own.id);
  if (strange.length === 0)
    return [{ verdict: 'ok', says: 'The vault key fits the secrets in the database.' }];
  if (strange.every(id => id === previousKey?.id)) {
    const says =
      'The secrets are still encrypted with PATCHBAY_VAULT_PREVIOUS_KEY; the next start takes them over to the present vault key.';
    return [{ verdict: 'warning', says, mend: 'npx patchbay up' }];
  }
  const says = `The vault key does not fit the secrets in the database, so agents that use them fail: ${
    key ? 'set the right one as PATCHBAY_VAULT_KEY' : `put the right one back as ${file}`
  }, or set it as PATCHBAY_VAULT_PREVIOUS_KEY to have the secrets taken over.`;
  return [{ verdict: 'problem', says }];
}

function beforeTheFirst(own: VaultKey | undefined, file: string | undefined): Remark {
  if (own) return { verdict: 'ok', says: 'There is a vault key; no secret is stored yet.' };
  const says =
    file === undefined
      ? 'The vault is off, so no secret can be stored; PATCHBAY_VAULT_KEY switches it on.'
      : 'The vault key is made when the first secret is stored.';
  return { verdict: 'ok', says };
}

function missing(file: string | undefined): Remark {
  const where = file === undefined ? 'set PATCHBAY_VAULT_KEY' : `put ${file} back, or set PATCHBAY_VAULT_KEY`;
  const says = `Secrets are stored but the vault key is not here, so agents that use them fail: ${where}.`;
  return { verdict: 'problem', says };
}
