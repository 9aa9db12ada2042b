import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { Store } from '../../store/store.ts';
import {
  type CredentialKey,
  type CredentialRecord,
  credentialOf,
  deleteCredential,
  findCredential,
  listCredentials,
  upsertCredential,
} from '../../store/tables/personal-credentials.ts';
import type { CredentialsProvider, PersonalCredential } from './credentials-provider.ts';
import type { PersonalTokens } from './personal-tokens.ts';
import { isToken } from './token-text.ts';

const MAX_OF_PERSON = 200;

/** A credential as it is sealed. */
export type CredentialPayload =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'oauth'; readonly token: string | undefined; readonly tokens: PersonalTokens };

/** A credential as it is after it was stored, without its value. */
export interface StoredCredential {
  readonly record: CredentialRecord;
  /** There was none of that name. */
  readonly created: boolean;
}

/** People's own credentials at MCP servers, sealed in the database like the vault (W-71). What needs the vault rejects as the vault does. */
export interface PersonalCredentials extends CredentialsProvider {
  /** Of one person, by name, without values. */
  list(userId: string): Promise<readonly CredentialRecord[]>;
  /**
   * Keeps what the person gives, in the place of what they gave under that name before. Rejects with a `PlatformError`: `invalid` for what can
   * be no credential, `conflict` when there are as many as a person may have.
   */
  put(key: CredentialKey, token: string): Promise<StoredCredential>;
  /** False when there is none of that name. */
  remove(key: CredentialKey): Promise<boolean>;
}

export function createPersonalCredentials(deps: {
  readonly store: Store;
  readonly vault: Pick<Vault, 'prepareSeal' | 'openText'>;
  readonly clock: Pick<Clock, 'now'>;
}): PersonalCredentials {
  const { store, vault, clock } = deps;

  /** Read each time: what was changed or removed on another node is used no more. */
  async function find(name: string, userId: string): Promise<PersonalCredential | undefined> {
    const sealed = await findCredential(store.db, { userId, name });
    if (!sealed) return undefined;
    const { token } = JSON.parse(await vault.openText(sealed, credentialOf(sealed))) as CredentialPayload;
    return token === undefined ? undefined : { token, revision: sealed.revision, given: sealed.given };
  }

  return {
    find,

    async refused({ name, principalId, revision }) {
      const now = await find(name, principalId);
      // They may have given another one meanwhile; what a person has pasted cannot be renewed.
      return now?.revision === revision ? undefined : now;
    },

    list: userId => listCredentials(store.db, userId),

    async put(key, token) {
      if (!isToken(token)) {
        throw new PlatformError(
          'invalid',
          'token: must have 1 to 16384 characters of ASCII, without line breaks; paste the credential alone.',
        );
      }
      const seal = await vault.prepareSeal();
      return store.commit(async db => {
        const before = await findCredential(db, key);
        if (!before && (await listCredentials(db, key.userId)).length >= MAX_OF_PERSON) {
          throw new PlatformError(
            'conflict',
            `You have ${MAX_OF_PERSON} credentials, as many as there may be; remove one first.`,
          );
        }
        const now = clock.now();
        // Greater also than that of one which was removed.
        const revision = Math.max(now, (before?.revision ?? 0) + 1);
        const record = { ...key, revision, given: revision, createdAt: now, updatedAt: now };
        const payload: CredentialPayload = { kind: 'token', token };
        const sealed = await seal(db, credentialOf(key), JSON.stringify(payload));
        await upsertCredential(db, { ...record, ...sealed });
        return { record, created: before === undefined };
      });
    },

    remove: key => store.commit(db => deleteCredential(db, key)),
  };
}
