import {
  prepareAuthorizationCodeRequest,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { randomBase32 } from '../../kernel/ids.ts';
import { isLoopbackHost } from '../../kernel/network-address.ts';
import type { AuthorizationServer } from './authorization-server.ts';
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
      const state = newState();
      const { address, codeVerifier } = await addressToVisit(request, { redirectUrl: redirect.url, state });
      const query = await redirect.visit(address);
      if (query.get('state') !== state) throw authenticationFailure('the answer belongs to another sign-in');
      return prepareAuthorizationCodeRequest(codeIn(query, request.server), codeVerifier, redirect.url);
    },
  };
}

/** Says which sign-in an answer belongs to: nobody can guess it, and it is good for one. */
export function newState(): string {
  return randomBase32(26);
}

/** Where the person goes, and what whoever comes back has to know. Rejects where they had better not. */
export async function addressToVisit(
  request: Pick<GrantRequest, 'server' | 'client' | 'scope'>,
  { redirectUrl, state }: { readonly redirectUrl: string; readonly state: string },
): Promise<{ readonly address: URL; readonly codeVerifier: string }> {
  const { server, client, scope } = request;
  assertPkce(server);
  const { authorizationUrl: address, codeVerifier } = await startAuthorization(server.url, {
    ...(server.metadata && { metadata: server.metadata }),
    clientInformation: client.information,
    ...{ redirectUrl, state },
    ...(server.says.resource !== undefined && { resource: server.says.resource }),
    ...(scope !== undefined && { scope }),
  });
  addQuirks(address, server);
  assertSafe(address);
  return { address, codeVerifier };
}

/** Without it whoever sees the code could use it. One that does not say that it has it has to be taken for one that does not. */
function assertPkce({ metadata, quirks }: AuthorizationServer): void {
  if (quirks.protectsCodes && metadata?.code_challenge_methods_supported === undefined) return;
  if (metadata && !metadata.code_challenge_methods_supported?.includes('S256'))
    throw authenticationFailure('its authorization server does not protect codes (PKCE with S256)');
}

/** What the provider's page wants besides, and not. */
function addQuirks({ searchParams }: URL, { says, quirks }: AuthorizationServer): void {
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

/** Nothing of an answer is looked at before it is known to be from whom the question was put to; that it is the answer to this question, whoever asks has seen. */
export function codeIn(query: URLSearchParams, { metadata }: AuthorizationServer): string {
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
