import type { Clock } from '../../kernel/clock.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { Store } from '../../store/store.ts';
import {
  beginRenewal,
  type CredentialKey,
  credentialOf,
  endRenewal,
  findCredential,
  leaveRenewal,
  upsertCredential,
} from '../../store/tables/personal-credentials.ts';
import type { ServerRef } from '../server/definition.ts';
import { type CredentialPayload, givenNow } from './personal-credentials.ts';
import type { KeptTokens } from './token-store.ts';

/** What a person has got by signing in with OAuth. */
export interface PersonalTokens {
  /** Where they signed in: it says how its tokens are renewed. */
  readonly server: ServerRef;
  readonly kept: KeptTokens;
}

/** A person's credential, however they have given it. */
export interface KeptCredential extends CredentialKey {
  readonly revision: number;
  readonly given: number;
  /** `undefined` when it was given up. */
  readonly token: string | undefined;
  /** `undefined` for a token that they have pasted. */
  readonly tokens: PersonalTokens | undefined;
}

/** The tokens of people who signed in with OAuth, among their other credentials. */
export interface PersonalTokenStore {
  /** From the tables each time: what was changed or removed on another node is used no more. */
  read(key: CredentialKey): Promise<KeptCredential | undefined>;
  /** They have signed in: in the place of what they gave under that name before. */
  put(key: CredentialKey, tokens: PersonalTokens): Promise<void>;
  /** True for exactly one of all who ask about this revision, on all nodes, for so long. */
  beginRenewal(credential: KeptCredential, leaseMs: number): Promise<boolean>;
  /** What it came to; nothing happens where the person has given another one meanwhile. */
  endRenewal(credential: KeptCredential, tokens: PersonalTokens): Promise<void>;
  /** It could not be renewed now. */
  leaveRenewal(credential: KeptCredential): Promise<void>;
}

export function createPersonalTokens(deps: {
  readonly store: Store;
  readonly vault: Pick<Vault, 'prepareSeal' | 'openText'>;
  readonly clock: Pick<Clock, 'now'>;
}): PersonalTokenStore {
  const { store, vault, clock } = deps;

  const textOf = (tokens: PersonalTokens) =>
    JSON.stringify({ kind: 'oauth', token: tokens.kept.token?.value, tokens } satisfies CredentialPayload);

  return {
    async read(key) {
      const sealed = await findCredential(store.db, key);
      if (!sealed) return undefined;
      const { userId, name, revision, given } = sealed;
      const payload = JSON.parse(await vault.openText(sealed, credentialOf(sealed))) as CredentialPayload;
      const tokens = payload.kind === 'oauth' ? payload.tokens : undefined;
      return { userId, name, revision, given, token: payload.token, tokens };
    },

    async put(key, tokens) {
      const seal = await vault.prepareSeal();
      await store.commit(async db => {
        const before = await findCredential(db, key);
        const record = givenNow(key, before, clock.now());
        const sealed = await seal(db, credentialOf(key), textOf(tokens));
        await upsertCredential(db, { ...record, ...sealed });
      });
    },

    beginRenewal: (credential, leaseMs) => store.commit(db => beginRenewal(db, credential, leaseMs)),

    async endRenewal(credential, tokens) {
      const seal = await vault.prepareSeal();
      await store.commit(async db => {
        const now = clock.now();
        const revision = Math.max(now, credential.revision + 1);
        const sealed = await seal(db, credentialOf(credential), textOf(tokens));
        await endRenewal(db, credential, { revision, updatedAt: now, ...sealed });
      });
    },

    leaveRenewal: credential => store.commit(db => leaveRenewal(db, credential)),
  };
}
