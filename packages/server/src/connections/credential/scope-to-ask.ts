import { computeScopeUnion } from '@modelcontextprotocol/client';
import type { AuthorizationServer } from './authorization-server.ts';
import { authenticationFailure } from './oauth-failure.ts';

/** A server that asks for more and more is refused. */
const MAX_SCOPE = 4_000;

/**
 * What was asked for, else what is configured, else all there is; with a token for renewing where people would be asked again (SEP-2207). Throws a
 * `SessionError` where that is too much.
 */
export function scopeToAsk(
  server: AuthorizationServer,
  wanted: {
    /** By the server, now and before. */
    readonly asked: string | undefined;
    readonly usual: string | undefined;
    /** Would a person have to come back for another token? */
    readonly isPerson: boolean;
  },
): string | undefined {
  const scope = wanted.asked ?? wanted.usual ?? computeScopeUnion(...scopesOf(server));
  const renews = wanted.isPerson && server.metadata?.scopes_supported?.includes('offline_access');
  const whole = scope !== undefined && renews ? computeScopeUnion(scope, 'offline_access') : scope;
  if (whole !== undefined && whole.length > MAX_SCOPE)
    throw authenticationFailure('it asks for too many scopes');
  return whole;
}

/** All that the server has, without those that the authorization server would not take. */
function scopesOf({ scopes, metadata, quirks }: AuthorizationServer): readonly string[] {
  const known = metadata?.scopes_supported;
  return quirks.refusesUnknownScopes && known ? scopes.filter(scope => known.includes(scope)) : scopes;
}
