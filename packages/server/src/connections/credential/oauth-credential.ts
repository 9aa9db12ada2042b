import {
  computeScopeUnion,
  extractWWWAuthenticateParams,
  isDpopNonceChallenge,
  isStrictScopeSuperset,
  OAuthError,
  OAuthErrorCode,
} from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.ts';
import type { HostFrom, SafeFetch } from '../../kernel/safe-fetch.ts';
import type { OAuthOptions } from '../server/oauth-options.ts';
import { type AuthorizationServer, findAuthorizationServer } from './authorization-server.ts';
import type { Credential, CredentialAnswer } from './credential.ts';
import type { Grant } from './grant.ts';
import { type ClientIdentity, clientAt } from './oauth-client.ts';
import { createOAuthEgress, hostsOf, type OAuthEgress } from './oauth-egress.ts';
import { authenticationFailure, oauthFailure } from './oauth-failure.ts';
import { scopeToAsk } from './scope-to-ask.ts';
import type { TokenKey } from './token-key.ts';
import { requestToken } from './token-request.ts';
import type { KeptToken, KeptTokens, TokenStore } from './token-store.ts';

/** A renewal that failed is not tried again for so long: the token there is may do. */
const RENEWAL_PAUSE_MS = 10_000;
const MAX_SECRETS = 6;

export interface OAuthCredentialOptions
  extends Partial<Pick<OAuthOptions, 'tokenUrl' | 'issuer' | 'scope' | 'audience' | 'sendResource'>> {
  /** Of the MCP server, as it is connected to. */
  readonly url: string;
  readonly hostFrom: HostFrom;
  readonly grant: Grant;
  readonly identity: ClientIdentity;
  /** Other addresses that an operator wrote down: their hosts may be private. */
  readonly operatorUrls?: readonly string[] | undefined;
  /** Binds tokens to this key; an authorization server that does not is refused. */
  readonly key?: TokenKey | undefined;
  readonly store: TokenStore;
  readonly fetch: SafeFetch;
  readonly clock: Pick<Clock, 'now'>;
}

/** Why a token is wanted. */
interface Wanted {
  readonly because: 'none yet' | 'refused' | 'scope' | 'soon over';
  /** The token that does not do. */
  readonly instead: string | undefined;
  /** Where the server says, or said last, who its authorization server is. */
  readonly metadataUrl: string | undefined;
  readonly scope?: string | undefined;
}

/**
 * A token of an OAuth authorization server: got when the server wants one, renewed before it ends or when it is refused, with more scopes
 * where the server asks for more (mcp.md 1.2 "Authorization"; ). Where tokens are got is written down (`tokenUrl`) it is got before the first
 * request. Whoever asks at the same time gets the same token. Only a refresh token that the authorization server refuses is forgotten; whatever else goes
 * wrong keeps what there is (field-reports 2.5). A client that was registered beforehand goes to the authorization server that the server names
 * first, or to the `issuer`, and to no other.
 */
export function createOAuthCredential(options: OAuthCredentialOptions): Credential {
  const { grant, identity, key, store, clock } = options;
  const operatorHosts =
    options.hostFrom === 'operator'
      ? hostsOf([options.url, options.issuer, options.tokenUrl, ...(options.operatorUrls ?? [])])
      : new Set<string>();
  let kept: KeptTokens | undefined;
  let loading: Promise<void> | undefined;
  /** A token the server has not accepted yet: refused, it is refused for good. */
  let untried: string | undefined;
  let obtaining: Promise<void> | undefined;
  let renewalPausedUntil = 0;
  /** The tokens of late, the newest first: answers to requests with the one before may still come. */
  let secrets: readonly string[] = [];

  async function current(): Promise<KeptTokens | undefined> {
    loading ??= store.read().then(
      found => {
        kept = found;
      },
      thrown => {
        loading = undefined;
        throw oauthFailure(thrown, []);
      },
    );
    await loading;
    note(kept);
    return kept;
  }

  function note(found: KeptTokens | undefined): void {
    const { value, refresh } = found?.token ?? {};
    if (value === undefined || secrets[0] === value) return;
    secrets = [value, ...(refresh === undefined ? [] : [refresh]), ...secrets].slice(0, MAX_SECRETS);
  }

  /** One that is bound to a key that is gone is none. */
  function tokenOf(found: KeptTokens | undefined): KeptToken | undefined {
    const token = found?.token;
    return token && token.keyThumbprint === key?.thumbprint ? token : undefined;
  }

  async function keep(next: KeptTokens): Promise<void> {
    await store.write(next);
    kept = next;
    note(next);
    untried = next.token?.value;
  }

  /** The server does not take it, however new it is: the next one is got in another way than by renewing it. */
  async function forget(token: string): Promise<void> {
    if (kept?.token?.value !== token) return;
    kept = { ...kept, token: undefined };
    await store.write(kept);
  }

  /** One at a time, for all who ask. */
  function obtain(wanted: Wanted): Promise<void> {
    obtaining ??= obtainAlone(wanted).finally(() => {
      obtaining = undefined;
    });
    return obtaining;
  }

  async function obtainAlone(wanted: Wanted): Promise<void> {
    const egress = createOAuthEgress(options.fetch, operatorHosts);
    let hint: string | undefined;
    try {
      const { url: serverUrl } = options;
      const { metadataUrl } = wanted;
      const server = await findAuthorizationServer({ serverUrl, metadataUrl, said: options, egress });
      hint = server.quirks.hint;
      if (await store.exclusively(() => renewed(wanted, server, egress))) return;
      await grantedAnew(wanted, server, egress);
    } catch (thrown) {
      throw oauthFailure(thrown, egress.sent, hint);
    }
  }

  /** True when there is another token now, from here or from somebody who shares the store. */
  async function renewed(wanted: Wanted, server: AuthorizationServer, egress: OAuthEgress): Promise<boolean> {
    kept = await store.read();
    note(kept);
    const token = tokenOf(kept);
    if (!kept || !token || kept.issuer !== server.issuer || wanted.because === 'scope') return false;
    if (token.value !== wanted.instead) {
      untried = token.value;
      return true;
    }
    if (token.refresh === undefined) return false;
    const parameters = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: token.refresh });
    try {
      const client = await clientFor(server, egress, kept.scope);
      await keep({
        ...kept,
        token: await requestToken({ server, client, parameters, key, egress, now: clock.now() }),
      });
      return true;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      const knowsUs = error.code === OAuthErrorCode.InvalidGrant;
      await keep({ ...kept, token: undefined, client: knowsUs ? kept.client : undefined });
      return false;
    }
  }

  async function grantedAnew(
    wanted: Wanted,
    server: AuthorizationServer,
    egress: OAuthEgress,
  ): Promise<void> {
    if (wanted.because === 'soon over' && grant.redirectUrl !== undefined) return;
    const sameServer = kept?.issuer === server.issuer;
    if (kept && !sameServer && identity.registered)
      throw authenticationFailure(
        'it names another authorization server than the one that the client is registered at; register it there, and configure that',
      );
    const scope = scopeToAsk(server, {
      asked: computeScopeUnion(sameServer ? kept?.scope : undefined, wanted.scope),
      usual: options.scope,
      isPerson: grant.redirectUrl !== undefined,
    });
    const client = await clientFor(server, egress, scope);
    const parameters = await grant.parameters({ server, client, scope, egress });
    const token = await requestToken({ server, client, parameters, key, egress, now: clock.now() });
    await keep({
      issuer: server.issuer,
      metadataUrl: wanted.metadataUrl,
      client: client.byOurselves ? client.information : undefined,
      redirectUrl: grant.redirectUrl,
      scope,
      token,
    });
    // Nobody has seen one yet, so this is not the second one that a request is sent with.
    if (wanted.because === 'none yet') untried = undefined;
  }

  function clientFor(server: AuthorizationServer, egress: OAuthEgress, scope: string | undefined) {
    return clientAt({ identity, server, kept, redirectUrl: grant.redirectUrl, scope, egress, clock });
  }

  async function renewSoonOver(token: KeptToken): Promise<void> {
    const now = clock.now();
    if (token.renewAt === undefined || token.renewAt > now || renewalPausedUntil > now) return;
    if (token.refresh === undefined && grant.redirectUrl !== undefined) return;
    const wanted = { because: 'soon over', instead: token.value, metadataUrl: kept?.metadataUrl } as const;
    await obtain(wanted).catch(() => {
      renewalPausedUntil = clock.now() + RENEWAL_PAUSE_MS;
    });
  }

  async function widened(scope: string | undefined, metadataUrl: string | undefined): Promise<boolean> {
    const before = await current();
    // What was asked for already, and not given, is not given the second time.
    if (!isStrictScopeSuperset(scope, before?.scope)) return false;
    await obtain({
      because: 'scope',
      instead: undefined,
      metadataUrl: metadataUrl ?? before?.metadataUrl,
      scope,
    });
    return true;
  }

  return {
    async headers({ method, url }): Promise<Record<string, string>> {
      const before = tokenOf(await current());
      if (before) await renewSoonOver(before);
      else if (options.tokenUrl === undefined) return {};
      else await obtain({ because: 'none yet', instead: undefined, metadataUrl: undefined });
      const token = tokenOf(kept);
      if (!token) return {};
      if (!key) return { authorization: `Bearer ${token.value}` };
      const proof = await key.buildProof({ htm: method, htu: url, accessToken: token.value });
      return { authorization: `DPoP ${token.value}`, dpop: proof };
    },

    secrets: () => secrets,

    answered({ status, headers, shown }) {
      const nonce = headers['dpop-nonce'];
      if (typeof nonce === 'string') key?.rememberNonce(options.url, nonce);
      if (status !== 401 && untried !== undefined && tokenIn(shown) === untried) untried = undefined;
    },

    async refused(answer) {
      const response = challengeOf(answer);
      if (isDpopNonceChallenge(response)) return key !== undefined && 'dpop-nonce' in answer.headers;
      const { scope, error, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
      const metadataUrl = resourceMetadataUrl?.href;
      if (answer.status === 403) return error === 'insufficient_scope' && widened(scope, metadataUrl);
      const instead = tokenIn(answer.shown);
      if (instead !== undefined && instead === untried) {
        await forget(instead);
        return false;
      }
      // Somebody who was refused at the same time has got another one meanwhile.
      if (instead !== undefined && kept?.token && kept.token.value !== instead) return true;
      await obtain({ because: 'refused', instead, scope, metadataUrl });
      return true;
    },
  };
}

/** Of the refresh token, or of us; everything else passes. */
export function isRefusal(error: unknown): error is OAuthError {
  return (
    error instanceof OAuthError &&
    (error.code === OAuthErrorCode.InvalidGrant ||
      error.code === OAuthErrorCode.InvalidClient ||
      error.code === OAuthErrorCode.UnauthorizedClient)
  );
}

function tokenIn({ authorization }: CredentialAnswer['shown']): string | undefined {
  return authorization?.slice(authorization.indexOf(' ') + 1);
}

/** As the library reads it: of several challenges the one that is about tokens. */
function challengeOf({ status, headers }: CredentialAnswer): Response {
  const challenges = [headers['www-authenticate'] ?? []].flat();
  const challenge = challenges.find(one => /^(?:bearer|dpop)\b/i.test(one)) ?? challenges[0];
  return new Response(null, {
    status,
    headers: challenge === undefined ? {} : { 'www-authenticate': challenge },
  });
}
