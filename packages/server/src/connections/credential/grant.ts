import type { AuthorizationServer } from './authorization-server.ts';
import type { OAuthClient } from './oauth-client.ts';
import type { OAuthEgress } from './oauth-egress.ts';

export interface GrantRequest {
  readonly server: AuthorizationServer;
  readonly client: OAuthClient;
  readonly scope: string | undefined;
  readonly egress: OAuthEgress;
}

/** What a token is given for, where there is none yet, or none that can be renewed. */
export interface Grant {
  /** Where a person is sent back to; `undefined` when none is needed. */
  readonly redirectUrl: string | undefined;
  /** The form for the token endpoint. Rejects when there is nothing to ask with. */
  parameters(request: GrantRequest): Promise<URLSearchParams>;
}

/** The client itself is who uses the server (RFC 6749, 4.4). */
export const clientCredentials: Grant = {
  redirectUrl: undefined,
  parameters: async ({ scope }) => form('client_credentials', { scope }),
};

/** Somebody else vouches: a platform for its workload, a company for its people (RFC 7523). Asked anew for every token. */
export function jwtBearer(assertion: (request: GrantRequest) => Promise<string>): Grant {
  return {
    redirectUrl: undefined,
    parameters: async request =>
      form('urn:ietf:params:oauth:grant-type:jwt-bearer', {
        assertion: await assertion(request),
        scope: request.scope,
      }),
  };
}

function form(type: string, more: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const parameters = new URLSearchParams({ grant_type: type });
  for (const [name, value] of Object.entries(more)) if (value !== undefined) parameters.set(name, value);
  return parameters;
}
