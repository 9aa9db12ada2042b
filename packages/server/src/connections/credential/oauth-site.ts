import type { SafeFetch } from '../../kernel/safe-fetch.ts';
import type { References } from '../../secrets/references.ts';
import type { ServerAuth, ServerDefinition, ServerRef } from '../server/definition.ts';
import { openerOf } from '../server/literal-credentials.ts';
import type { OAuthOptions } from '../server/oauth-options.ts';
import { createResolveEndpoint } from '../server/resolve-endpoint.ts';
import type { ClientIdentity } from './oauth-client.ts';
import { createOAuthEgress, hostsOf, type OAuthEgress } from './oauth-egress.ts';

/** A registered MCP server at which each person signs in, as an operator has described it, with its references resolved. */
export interface OAuthSite {
  /** Of the MCP server. */
  readonly url: string;
  /** Of what people sign in for, by name. */
  readonly credential: string;
  readonly said: OAuthOptions;
  readonly identity: ClientIdentity;
  /** A way out of its own for each sign-in, which knows what was sent on it. */
  egress(): OAuthEgress;
}

/** `undefined` for a server that is not registered any more, or where nobody signs in this way. Rejects where a reference cannot be resolved. */
export type FindOAuthSite = (ref: ServerRef) => Promise<OAuthSite | undefined>;

export function createOAuthSites(deps: {
  readonly registered: (ref: ServerRef) => ServerDefinition | undefined;
  readonly references: Pick<References, 'compile' | 'resolve'>;
  readonly fetch: SafeFetch;
  /** Of the document that describes us to authorization servers, where they can reach it. */
  readonly metadataUrl: () => string | undefined;
}): FindOAuthSite {
  const { registered, references, fetch, metadataUrl } = deps;
  const resolveEndpoint = createResolveEndpoint(references);

  async function resolved(oauth: OAuthOptions, agentId: string): Promise<OAuthOptions> {
    const members = await Promise.all(
      Object.entries(oauth).map(async ([name, value]) => {
        if (typeof value !== 'string') return [name, value] as const;
        const { text } = await references.resolve(references.compile(value), { agentId });
        return [name, text] as const;
      }),
    );
    return { ...oauth, ...Object.fromEntries(members) };
  }

  return async ref => {
    const definition = registered(ref);
    const oauth = definition && oauthOf(definition.auth);
    if (!definition || !oauth || definition.auth.kind !== 'principal') return undefined;
    const agentId = openerOf(ref);
    const { endpoint } = await resolveEndpoint(definition, { agentId });
    if (endpoint.kind !== 'http') return undefined;
    const { url, hostFrom } = endpoint;
    const said = await resolved(oauth, agentId);
    const hosts = hostFrom === 'operator' ? hostsOf([url, said.issuer, said.tokenUrl]) : new Set<string>();
    const { clientId: id, clientSecret: secret } = said;
    return {
      ...{ url, said, credential: definition.auth.credentialName },
      identity: {
        name: 'Patchbay',
        registered: id === undefined ? undefined : { id, secret },
        metadataUrl: metadataUrl(),
      },
      egress: () => createOAuthEgress(fetch, hosts),
    };
  };
}

function oauthOf(auth: ServerAuth): OAuthOptions | undefined {
  return auth.kind === 'principal' ? auth.signIn : undefined;
}
