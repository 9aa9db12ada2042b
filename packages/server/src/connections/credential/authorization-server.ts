import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  type OAuthProtectedResourceMetadata,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import type { OAuthOptions } from '../server/oauth-options.ts';
import { type ProviderQuirks, quirksOf } from './identity-providers.ts';
import type { OAuthEgress } from './oauth-egress.ts';
import { authenticationFailure } from './oauth-failure.ts';

/** Who gives tokens for a server, and for what. */
export interface AuthorizationServer {
  readonly url: string;
  readonly issuer: string;
  /** `undefined` for one of the revision 2025-03-26, whose endpoints stand at fixed paths. */
  readonly metadata: AuthorizationServerMetadata | undefined;
  /** What the tokens are for, as the server spells it. */
  readonly resource: string;
  /** All scopes that the server says it has. */
  readonly scopes: readonly string[];
  readonly quirks: ProviderQuirks;
  /** How every request says what the tokens are for: the parameter `resource` (RFC 8707) unless the provider refuses it, and `audience`. */
  readonly says: { readonly resource: string | undefined; readonly audience: string | undefined };
}

export interface FindOptions {
  /** Of the MCP server. */
  readonly serverUrl: string;
  /** Where the server said its metadata is. */
  readonly metadataUrl: string | undefined;
  /** What an operator says of it; with `tokenUrl` nothing is asked. */
  readonly said: Partial<SaidOfServer>;
  readonly egress: OAuthEgress;
}

type SaidOfServer = Pick<OAuthOptions, 'tokenUrl' | 'issuer' | 'audience' | 'sendResource'>;

/**
 * Finds the authorization server of an MCP server: its protected resource metadata (RFC 9728), then the metadata of whom that names
 * (RFC 8414, OpenID Connect), which must call itself what it was called. Rejects with whatever went wrong.
 */
export async function findAuthorizationServer(options: FindOptions): Promise<AuthorizationServer> {
  const { serverUrl, said, egress } = options;
  if (said.tokenUrl !== undefined) return knownBeforehand(serverUrl, said.tokenUrl, said);
  const resource = await readResource(options);
  if (
    resource &&
    !checkResourceAllowed({ requestedResource: serverUrl, configuredResource: resource.resource })
  )
    throw authenticationFailure('its metadata is about another server');
  const url = chosen(resource?.authorization_servers ?? [], options);
  const metadata = await discoverAuthorizationServerMetadata(url, { fetchFn: egress.fetch });
  if (!metadata && resource)
    throw authenticationFailure('its authorization server does not say how it works');
  const issuer = metadata?.issuer ?? url;
  const tokensFor = resource?.resource ?? resourceUrlFromServerUrl(serverUrl).href;
  return {
    ...{ url, issuer, metadata, resource: tokensFor },
    scopes: resource?.scopes_supported ?? [],
    ...howItIsAsked(issuer, tokensFor, said),
  };
}

/** Of a server whose endpoint for tokens an operator wrote down. */
function knownBeforehand(
  serverUrl: string,
  tokenUrl: string,
  said: Partial<SaidOfServer>,
): AuthorizationServer {
  const resource = resourceUrlFromServerUrl(serverUrl).href;
  return {
    ...{ url: tokenUrl, issuer: tokenUrl, resource, scopes: [] },
    metadata: {
      issuer: tokenUrl,
      token_endpoint: tokenUrl,
      authorization_endpoint: tokenUrl,
      response_types_supported: [],
    },
    ...howItIsAsked(tokenUrl, resource, said),
  };
}

function howItIsAsked(
  issuer: string,
  resource: string,
  { audience, sendResource }: Partial<SaidOfServer>,
): Pick<AuthorizationServer, 'quirks' | 'says'> {
  const quirks = quirksOf(issuer);
  const { refusesResource = false, wantsAudience = false } = quirks;
  return {
    quirks,
    says: {
      resource: (sendResource ?? !refusesResource) ? resource : undefined,
      audience: audience ?? (wantsAudience ? resource : undefined),
    },
  };
}

function chosen(named: readonly string[], { said: { issuer }, serverUrl }: FindOptions): string {
  if (issuer === undefined) return named[0] ?? new URL('/', serverUrl).href;
  if (named.length === 0) return issuer;
  const same = named.find(one => withoutSlash(one) === withoutSlash(issuer));
  if (same !== undefined) return same;
  throw authenticationFailure('it names another authorization server than the one that is configured');
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}

/** `undefined` for a server that has none, which only those of 2025-03-26 may. */
async function readResource({
  serverUrl,
  metadataUrl,
  egress,
}: FindOptions): Promise<OAuthProtectedResourceMetadata | undefined> {
  let status: number | undefined;
  const watched: OAuthEgress['fetch'] = async (url, init) => {
    const answer = await egress.fetch(url, init);
    status = answer.status;
    return answer;
  };
  try {
    return await discoverOAuthProtectedResourceMetadata(
      serverUrl,
      metadataUrl === undefined ? {} : { resourceMetadataUrl: metadataUrl },
      watched,
    );
  } catch (error) {
    // A page for people is at any address of some servers.
    const isThere = status !== undefined && status < 400 && !(error instanceof SyntaxError);
    if (metadataUrl !== undefined || isThere || status === undefined || status >= 500) throw error;
    return undefined;
  }
}
