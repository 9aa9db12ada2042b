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
export interface PersonalCredentials {
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
  readonly vault: Pick<Vault, 'prepareSeal'>;
  readonly clock: Pick<Clock, 'now'>;
}): PersonalCredentials {
  const { store, vault, clock } = deps;

  return {
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
        const record = givenNow(key, before, clock.now());
        const payload: CredentialPayload = { kind: 'token', token };
        const sealed = await seal(db, credentialOf(key), JSON.stringify(payload));
        await upsertCredential(db, { ...record, ...sealed });
        return { record, created: before === undefined };
      });
    },

    remove: key => store.commit(db => deleteCredential(db, key)),
  };
}

/** What a person gives now, in the place of what was there before. Its revision is greater also than that of one which was removed. */
export function givenNow(
  key: CredentialKey,
  before: Pick<CredentialRecord, 'revision'> | undefined,
  now: number,
): CredentialRecord {
  const revision = Math.max(now, (before?.revision ?? 0) + 1);
  return { ...key, revision, given: revision, createdAt: now, updatedAt: now };
}
