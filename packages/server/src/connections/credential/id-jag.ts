import { requestJwtAuthorizationGrant } from '@modelcontextprotocol/client';
import { type Grant, jwtBearer } from './grant.ts';

/** Of a company, at which its people are signed in. An operator writes it down: it gets their identity. */
export interface IdentityProvider {
  readonly tokenEndpoint: string;
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  /** Of the person, as the identity provider signed it. */
  readonly idToken: () => Promise<string>;
}

/**
 * Enterprise-managed authorization: the company's identity provider gives a grant for the server, and nobody is asked for consent (RFC 8693,
 * RFC 7523, extension `io.modelcontextprotocol/enterprise-managed-authorization`).
 */
export function enterpriseManaged(provider: IdentityProvider): Grant {
  const { tokenEndpoint, clientId, clientSecret, idToken } = provider;
  return jwtBearer(async ({ server, scope, egress }) => {
    const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
      tokenEndpoint,
      audience: server.issuer,
      resource: server.resource,
      idToken: await idToken(),
      clientId,
      ...(clientSecret !== undefined && { clientSecret }),
      ...(scope !== undefined && { scope }),
      fetchFn: egress.fetch,
    });
    return jwtAuthGrant;
  });
}
