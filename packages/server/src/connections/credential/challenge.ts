import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import type { OAuthEgress } from './oauth-egress.ts';

/** What a server wants of whoever shows it no token. */
export interface Challenge {
  /** Where it says its metadata is. */
  readonly metadataUrl: string | undefined;
  readonly scope: string | undefined;
}

const NOTHING: Challenge = { metadataUrl: undefined, scope: undefined };
const PING = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'ping' });

/** Asks an MCP server without a token, which it answers with where to get one (RFC 9728, 5.1); nothing is known where it says nothing. */
export async function challengeOfServer(url: string, egress: OAuthEgress): Promise<Challenge> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const answer = await egress.fetch(url, { method: 'POST', headers, body: PING }).catch(() => undefined);
  if (answer?.status !== 401) return NOTHING;
  const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(answer);
  return { scope, metadataUrl: resourceMetadataUrl?.href };
}
