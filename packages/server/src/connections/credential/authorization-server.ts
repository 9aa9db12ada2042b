import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  type OAuthProtectedResourceMetadata,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import type { OAuthEgress } from './oauth-egress.ts';
import { authenticationFailure } from './oauth-failure.ts';

/** Who gives tokens for a server, and for what. */
export interface AuthorizationServer {
  readonly url: string;
  readonly issuer: string;
  /** `undefined` for one of the revision 2025-03-26, whose endpoints stand at fixed paths. */
  readonly metadata: AuthorizationServerMetadata | undefined;
  /** What the tokens are for, as the server spells it: in every request (RFC 8707). */
  readonly resource: string;
  /** All scopes that the server says it has. */
  readonly scopes: readonly string[];
}

export interface FindOptions {
  /** Of the MCP server. */
  readonly serverUrl: string;
  /** Where the server said its metadata is. */
  readonly metadataUrl: string | undefined;
  /** The only one that is wanted, where an operator said so. */
  readonly issuer: string | undefined;
  readonly egress: OAuthEgress;
}

/**
 * Finds the authorization server of an MCP server: its protected resource metadata (RFC 9728), then the metadata of whom that names
 * (RFC 8414, OpenID Connect), which must call itself what it was called. Rejects with whatever went wrong.
 */
export async function findAuthorizationServer(options: FindOptions): Promise<AuthorizationServer> {
  const { serverUrl, egress } = options;
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
  return {
    url,
    issuer: metadata?.issuer ?? url,
    metadata,
    resource: resource?.resource ?? resourceUrlFromServerUrl(serverUrl).href,
    scopes: resource?.scopes_supported ?? [],
  };
}

function chosen(named: readonly string[], { issuer, serverUrl }: FindOptions): string {
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
