import type { Clock } from '../../kernel/clock.ts';
import type { SafeFetch } from '../../kernel/safe-fetch.ts';
import type { HttpEndpoint } from '../session/endpoint.ts';
import type { Credential } from './credential.ts';
import { clientCredentials } from './grant.ts';
import { createOAuthCredential } from './oauth-credential.ts';
import { createMemoryTokenStore } from './token-store.ts';

/** What a registered client of the authorization server of an endpoint shows there; `undefined` where it is used in another way. */
export function serviceCredential(
  { url, hostFrom, client }: HttpEndpoint,
  parts: { readonly fetch: SafeFetch; readonly clock: Clock },
): Credential | undefined {
  if (!client) return undefined;
  const { clientId: id, clientSecret: secret, ...said } = client;
  return createOAuthCredential({
    ...{ url, hostFrom, ...said, ...parts },
    grant: clientCredentials,
    identity: { name: 'Patchbay', registered: { id, secret } },
    store: createMemoryTokenStore(),
  });
}
