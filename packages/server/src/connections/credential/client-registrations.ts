import { createHash } from 'node:crypto';
import type { OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.ts';
import type { Vault } from '../../secrets/vault.ts';
import type { Store } from '../../store/store.ts';
import {
  type CredentialKey,
  credentialOf,
  findCredential,
  upsertCredential,
} from '../../store/tables/personal-credentials.ts';
import type { KeptTokens } from './token-store.ts';

/** As whom the platform has registered itself at authorization servers: once for each, whoever signs in there. */
export interface ClientRegistrations {
  /** The registration there that comes back to this address. */
  find(issuer: string, redirectUrl: string): Promise<KeptTokens | undefined>;
  keep(issuer: string, redirectUrl: string, client: OAuthClientInformationMixed): Promise<void>;
  /** The issuer at which the client that people have registered for a server got tokens first; `undefined` before. Its secret is for no other. */
  issuerOf(client: RegisteredByPeople): Promise<string | undefined>;
  /** Notes that it got some there. */
  keepIssuer(client: RegisteredByPeople, issuer: string): Promise<void>;
}

/** A client that an operator has written down for an MCP server. */
export interface RegisteredByPeople {
  readonly serverUrl: string;
  readonly clientId: string;
}

/** Among the credentials of people, those of the platform itself. */
const OURS = '';

export function createClientRegistrations(deps: {
  readonly store: Store;
  readonly vault: Pick<Vault, 'prepareSeal' | 'openText'>;
  readonly clock: Pick<Clock, 'now'>;
}): ClientRegistrations {
  const { store, vault, clock } = deps;

  async function read(key: CredentialKey): Promise<unknown> {
    const found = await findCredential(store.db, key);
    return found && JSON.parse(await vault.openText(found, credentialOf(found)));
  }

  async function write(key: CredentialKey, value: unknown): Promise<void> {
    const seal = await vault.prepareSeal();
    await store.commit(async db => {
      const now = clock.now();
      const sealed = await seal(db, credentialOf(key), JSON.stringify(value));
      await upsertCredential(db, {
        ...{ ...key, ...sealed },
        ...{ revision: now, given: now, createdAt: now, updatedAt: now },
      });
    });
  }

  return {
    async find(issuer, redirectUrl) {
      const client = (await read(keyOf('client', issuer, redirectUrl))) as
        | OAuthClientInformationMixed
        | undefined;
      return (
        client && { issuer, redirectUrl, client, metadataUrl: undefined, scope: undefined, token: undefined }
      );
    },
    keep: (issuer, redirectUrl, client) => write(keyOf('client', issuer, redirectUrl), client),
    issuerOf: async ({ serverUrl, clientId }) =>
      (await read(keyOf('issuer', serverUrl, clientId))) as string | undefined,
    keepIssuer: ({ serverUrl, clientId }, issuer) => write(keyOf('issuer', serverUrl, clientId), issuer),
  };
}

function keyOf(what: 'client' | 'issuer', ...parts: readonly string[]): CredentialKey {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return { userId: OURS, name: `${what} ${hash}` };
}
