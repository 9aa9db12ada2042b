import { fetchToken } from '@modelcontextprotocol/client';
import type { AuthorizationServer } from './authorization-server.ts';
import type { OAuthClient } from './oauth-client.ts';
import type { OAuthEgress } from './oauth-egress.ts';
import { authenticationFailure } from './oauth-failure.ts';
import type { TokenKey } from './token-key.ts';
import type { KeptToken } from './token-store.ts';

/** What a header can carry, and not the largest. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/;
/** Before it ends, so that a request under way does not meet its end; of a short life only a fifth. */
const RENEW_BEFORE_MS = 60_000;

export interface TokenRequest {
  readonly server: AuthorizationServer;
  readonly client: OAuthClient;
  readonly parameters: URLSearchParams;
  readonly key: TokenKey | undefined;
  readonly egress: OAuthEgress;
  /** Epoch ms. */
  readonly now: number;
}

/** Asks the token endpoint, with the proof of a key where there is one. Rejects with whatever went wrong. */
export async function requestToken(request: TokenRequest): Promise<KeptToken> {
  const { server, client, parameters, key, egress, now } = request;
  const { metadata, issuer, says, url } = server;
  // A code was asked for with it.
  if (says.audience !== undefined && parameters.get('grant_type') !== 'authorization_code')
    parameters.set('audience', says.audience);
  const nothing = () => undefined;
  const tokens = await fetchToken(
    {
      redirectUrl: undefined,
      clientMetadata: { redirect_uris: [] },
      clientInformation: () => ({ ...client.information, issuer }),
      ...(client.authenticate && { addClientAuthentication: client.authenticate }),
      ...(key && { dpop: () => key }),
      prepareTokenRequest: () => parameters,
      tokens: nothing,
      saveTokens: nothing,
      redirectToAuthorization: nothing,
      saveCodeVerifier: nothing,
      codeVerifier: () => '',
    },
    url,
    {
      ...(metadata && { metadata }),
      ...(says.resource !== undefined && { resource: says.resource }),
      fetchFn: egress.fetch,
    },
  );
  const type = tokens.token_type.toLowerCase();
  if (type !== (key ? 'dpop' : 'bearer'))
    throw authenticationFailure(
      key
        ? 'the authorization server does not bind tokens to keys'
        : 'the token is of a type that is not known',
    );
  if (!TOKEN.test(tokens.access_token)) throw authenticationFailure('the token cannot be sent');
  return {
    value: tokens.access_token,
    type: key ? 'dpop' : 'bearer',
    keyThumbprint: key?.thumbprint,
    refresh: tokens.refresh_token ?? parameters.get('refresh_token') ?? undefined,
    renewAt: renewAt(tokens.expires_in, now),
  };
}

function renewAt(lifetimeS: number | undefined, now: number): number | undefined {
  if (lifetimeS === undefined) return undefined;
  const lifetimeMs = Math.max(0, lifetimeS * 1_000);
  return now + lifetimeMs - Math.min(RENEW_BEFORE_MS, lifetimeMs / 5);
}
