import { createHash } from 'node:crypto';
import type { OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { Store } from '../../store/store.ts';
import { credentialOf, findCredential, upsertCredential } from '../../store/tables/personal-credentials.ts';
import type { KeptTokens } from './token-store.ts';

/** As whom the platform has registered itself at authorization servers: once for each, whoever signs in there. */
export interface ClientRegistrations {
  /** The registration there that comes back to this address. */
  find(issuer: string, redirectUrl: string): Promise<KeptTokens | undefined>;
  keep(issuer: string, redirectUrl: string, client: OAuthClientInformationMixed): Promise<void>;
}

/** Among the credentials of people, those of the platform itself. */
const OURS = '';

export function createClientRegistrations(deps: {
  readonly store: Store;
  readonly vault: Pick<Vault, 'prepareSeal' | 'openText'>;
  readonly clock: Pick<Clock, 'now'>;
}): ClientRegistrations {
  const { store, vault, clock } = deps;
  return {
    async find(issuer, redirectUrl) {
      const found = await findCredential(store.db, keyOf(issuer, redirectUrl));
      if (!found) return undefined;
      const text = await vault.openText(found, credentialOf(found));
      const client = JSON.parse(text) as OAuthClientInformationMixed;
      return { issuer, redirectUrl, client, metadataUrl: undefined, scope: undefined, token: undefined };
    },
    async keep(issuer, redirectUrl, client) {
      const key = keyOf(issuer, redirectUrl);
      const seal = await vault.prepareSeal();
      await store.commit(async db => {
        const now = clock.now();
        const sealed = await seal(db, credentialOf(key), JSON.stringify(client));
        await upsertCredential(db, {
          ...{ ...key, ...sealed },
          ...{ revision: now, given: now, createdAt: now, updatedAt: now },
        });
      });
    },
  };
}

function keyOf(issuer: string, redirectUrl: string) {
  const name = createHash('sha256')
    .update(JSON.stringify([issuer, redirectUrl]))
    .digest('hex');
  return { userId: OURS, name: `client ${name}` };
}
