import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';

/** Scopes that a server says are missing (RFC 6750, 3.1), in the challenge with which it refused a token. */
export function scopeWanted(status: number, challenge: string | undefined): string | undefined {
  if (status !== 403 || challenge === undefined) return undefined;
  const answer = new Response(null, { status, headers: { 'www-authenticate': challenge } });
  const { error, scope } = extractWWWAuthenticateParams(answer);
  return error === 'insufficient_scope' ? scope : undefined;
}
