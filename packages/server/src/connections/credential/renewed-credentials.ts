import { computeScopeUnion, isStrictScopeSuperset, OAuthErrorCode } from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.ts';
import { findAuthorizationServer } from './authorization-server.ts';
import type { ClientRegistrations } from './client-registrations.ts';
import type { CredentialsProvider, PersonalCredential } from './credentials-provider.ts';
import { clientAt } from './oauth-client.ts';
import { isRefusal } from './oauth-credential.ts';
import { authenticationFailure, oauthFailure } from './oauth-failure.ts';
import type { FindOAuthSite, OAuthSite } from './oauth-site.ts';
import type { KeptCredential, PersonalTokenStore, PersonalTokens } from './personal-tokens.ts';
import { scopeWanted } from './scope-wanted.ts';
import { requestToken } from './token-request.ts';
import type { KeptToken } from './token-store.ts';

/** One node renews, the others wait so long for it; one that went down holds nobody up for longer. */
const LEASE_MS = 30_000;
const LOOK_AGAIN_MS = 200;
/** A renewal that failed is not tried again for so long: the token there is may do. */
const RENEWAL_PAUSE_MS = 10_000;
const MAX_PAUSED = 10_000;

/**
 * People's own credentials, renewed where they have signed in with OAuth (W-80): before they end, and when a server refuses them. Of all who ask, on
 * all nodes, one asks the authorization server, and the others get what that comes to (attack 11). Only a refresh token that the authorization server
 * refuses is given up; whatever else goes wrong keeps what there is.
 */
export function createRenewedCredentials(deps: {
  readonly tokens: PersonalTokenStore;
  readonly siteOf: FindOAuthSite;
  readonly registrations: ClientRegistrations;
  readonly clock: Clock;
}): CredentialsProvider {
  const { tokens: store, siteOf, registrations, clock } = deps;
  /** On this node, by credential and revision. */
  const renewing = new Map<string, Promise<PersonalCredential | undefined>>();
  /** By credential, until when, in epoch ms. */
  const paused = new Map<string, number>();

  /** Resolves with another one, or `undefined` where the person has to sign in again. Rejects with a `SessionError` when it cannot be renewed now. */
  function renew(before: KeptCredential): Promise<PersonalCredential | undefined> {
    const name = JSON.stringify([before.userId, before.name, before.revision]);
    const under = renewing.get(name) ?? renewOnce(before).finally(() => renewing.delete(name));
    renewing.set(name, under);
    return under;
  }

  async function renewOnce({
    userId,
    name,
    revision,
  }: KeptCredential): Promise<PersonalCredential | undefined> {
    const until = clock.now() + LEASE_MS;
    for (;;) {
      const now = await store.read({ userId, name });
      // Somebody else was quicker, or the person has given another one.
      if (now?.revision !== revision) return now && shown(now);
      if (now.tokens?.kept.token?.refresh === undefined) return undefined;
      if (await store.beginRenewal(now, LEASE_MS)) return renewAlone(now, now.tokens);
      if (clock.now() >= until) throw authenticationFailure('its token is being renewed elsewhere');
      await clock.sleep(LOOK_AGAIN_MS);
    }
  }

  async function renewAlone(
    now: KeptCredential,
    tokens: PersonalTokens,
  ): Promise<PersonalCredential | undefined> {
    const site = await siteOf(tokens.server);
    const egress = site?.egress();
    try {
      const token = site && (await tokenInstead(site, tokens, egress!));
      // What was given up is written down as well: nobody tries it again.
      await store.endRenewal(now, { ...tokens, kept: { ...tokens.kept, token } });
    } catch (thrown) {
      await store.leaveRenewal(now).catch(() => undefined);
      throw oauthFailure(thrown, egress?.sent ?? []);
    }
    // Read again before giving up: they may have signed in anew meanwhile.
    const next = await store.read(now);
    return next && shown(next);
  }

  /** `undefined` where the person has to sign in again. */
  async function tokenInstead(
    { url, said, identity }: OAuthSite,
    { kept }: PersonalTokens,
    egress: ReturnType<OAuthSite['egress']>,
  ): Promise<KeptToken | undefined> {
    const { issuer, metadataUrl, redirectUrl, scope } = kept;
    const server = await findAuthorizationServer({ serverUrl: url, metadataUrl, said, egress });
    // What was given at one authorization server is never shown to another.
    if (server.issuer !== issuer || redirectUrl === undefined) return undefined;
    const known = await registrations.find(issuer, redirectUrl);
    if (!identity.registered && !known?.client) return undefined;
    const client = await clientAt({ identity, server, kept: known, redirectUrl, scope, egress, clock });
    const parameters = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: kept.token!.refresh!,
    });
    try {
      return await requestToken({ server, client, parameters, egress, key: undefined, now: clock.now() });
    } catch (error) {
      if (isRefusal(error) && error.code === OAuthErrorCode.InvalidGrant) return undefined;
      throw error;
    }
  }

  /** What is about to end is renewed; where that fails, what there is may do a little longer. */
  async function current(now: KeptCredential): Promise<PersonalCredential | undefined> {
    const token = now.tokens?.kept.token;
    const isOver = token?.renewAt !== undefined && token.renewAt <= clock.now();
    if (!isOver || token.refresh === undefined) return shown(now);
    const name = JSON.stringify([now.userId, now.name]);
    if ((paused.get(name) ?? 0) > clock.now()) return shown(now);
    try {
      return await renew(now);
    } catch {
      if (paused.size >= MAX_PAUSED) paused.clear();
      paused.set(name, clock.now() + RENEWAL_PAUSE_MS);
      return shown(now);
    }
  }

  return {
    async find(name, userId) {
      const now = await store.read({ userId, name });
      return now && current(now);
    },

    async refused({ name, principalId: userId, revision }, { status, challenge }) {
      const now = await store.read({ userId, name });
      if (now?.revision !== revision) return now && shown(now);
      // What the person has pasted cannot be renewed, and no new token has more scopes than they gave.
      if (!now.tokens || wantsMore(now.tokens, status, challenge)) return undefined;
      return renew(now);
    },
  };
}

/** A token that was given up is none. */
function shown({ revision, given, token }: KeptCredential): PersonalCredential | undefined {
  return token === undefined ? undefined : { token, revision, given };
}

function wantsMore({ kept }: PersonalTokens, status: number, challenge: string | undefined): boolean {
  const wanted = scopeWanted(status, challenge);
  return wanted !== undefined && isStrictScopeSuperset(computeScopeUnion(kept.scope, wanted), kept.scope);
}
