import {
  prepareAuthorizationCodeRequest,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { randomBase32 } from '../../kernel/ids.ts';
import { isLoopbackHost } from '../../kernel/network-address.ts';
import type { Grant, GrantRequest } from './grant.ts';
import { authenticationFailure } from './oauth-failure.ts';

/** How a person gets to the authorization server and back. */
export interface Redirect {
  readonly url: string;
  /**
   * Shows the person this address, which is https or at this machine. Resolves with the query with which they came back to `url`; rejects
   * when they do not.
   */
  visit(address: URL): Promise<URLSearchParams>;
}

/** A person signs in at the authorization server and allows us to act for them: a code with PKCE (OAuth 2.1; RFC 7636, 9207). */
export function signIn(redirect: Redirect): Grant {
  return {
    redirectUrl: redirect.url,
    async parameters(request) {
      const { server, client, scope } = request;
      assertPkce(request);
      const state = randomBase32(26);
      const { authorizationUrl, codeVerifier } = await startAuthorization(server.url, {
        ...(server.metadata && { metadata: server.metadata }),
        clientInformation: client.information,
        redirectUrl: redirect.url,
        state,
        ...(server.says.resource !== undefined && { resource: server.says.resource }),
        ...(scope !== undefined && { scope }),
      });
      addQuirks(authorizationUrl, request);
      assertSafe(authorizationUrl);
      const code = codeIn(await redirect.visit(authorizationUrl), state, request);
      return prepareAuthorizationCodeRequest(code, codeVerifier, redirect.url);
    },
  };
}

/** Without it whoever sees the code could use it. One that does not say that it has it has to be taken for one that does not. */
function assertPkce({ server: { metadata, quirks } }: GrantRequest): void {
  if (quirks.protectsCodes && metadata?.code_challenge_methods_supported === undefined) return;
  if (metadata && !metadata.code_challenge_methods_supported?.includes('S256'))
    throw authenticationFailure('its authorization server does not protect codes (PKCE with S256)');
}

/** What the provider's page wants besides, and not. */
function addQuirks({ searchParams }: URL, { server: { says, quirks } }: GrantRequest): void {
  if (says.audience !== undefined) searchParams.set('audience', says.audience);
  for (const [name, value] of Object.entries(quirks.signInWith ?? {})) {
    if (value === undefined) searchParams.delete(name);
    else searchParams.set(name, value);
  }
}

function assertSafe({ protocol, hostname }: URL): void {
  if (protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))) return;
  throw authenticationFailure('its authorization server has a sign-in page that is not https');
}

/** Nothing of an answer is looked at before it is known to be the answer to this question, from whom it was put to. */
function codeIn(query: URLSearchParams, state: string, { server: { metadata } }: GrantRequest): string {
  if (query.get('state') !== state) throw authenticationFailure('the answer belongs to another sign-in');
  validateAuthorizationResponseIssuer({
    iss: query.get('iss') ?? undefined,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
  });
  const code = query.get('code');
  if (code) return code;
  const error = query.get('error') ?? 'no code came back';
  throw authenticationFailure(
    `the sign-in was not completed (${error}: ${query.get('error_description') ?? ''})`,
  );
}
