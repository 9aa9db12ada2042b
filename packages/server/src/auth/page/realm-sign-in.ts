import { createHash, createHmac } from 'node:crypto';
import { jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import type { Clock } from '../../kernel/clock.ts';
import { PlatformError } from '../../kernel/errors.ts';
import { granted, type Outcome, refused } from '../../kernel/result.ts';
import { REALM_ALGORITHMS, type Realm } from '../token/realm.ts';
import { csrfFits, newPageToken } from './page-token.ts';

export type RealmSignInRefusal = {
  readonly reason:
    | 'realm-state'
    | 'realm-said-no'
    | 'realm-answer'
    | 'realm-unavailable'
    | 'account-disabled';
  readonly userId?: string;
};

/**
 * Signing in on our pages by an OpenID realm: code, PKCE, state, nonce and issuer. All of it follows from one secret that only the browser
 * has, so nothing is kept here, and an answer that was meant for another browser fits nowhere (attack 9).
 */
export interface RealmSignIn {
  /** The realm, as people know it. */
  readonly host: string;
  /** Where to send the browser, and the secret for its cookie. Rejects with `unavailable` while the realm does not answer. */
  begin(way: Way): Promise<{ readonly address: string; readonly secret: string }>;
  /** Who came back, and where they were going. */
  end(
    answer: URL,
    browser: { readonly secret: string | undefined; readonly redirectUri: string },
  ): Promise<Outcome<{ readonly userId: string; readonly returnTo: string }, RealmSignInRefusal>>;
}

interface Way {
  readonly returnTo: string;
  readonly redirectUri: string;
}

const SCOPE = 'openid profile';
const CLOCK_TOLERANCE_S = 30;

export function createRealmSignIn(deps: {
  readonly realm: Realm;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly clock: Pick<Clock, 'now'>;
}): RealmSignIn {
  const { realm, clientId, clientSecret, clock } = deps;
  const client: oauth.Client = { client_id: clientId };

  async function server(): Promise<oauth.AuthorizationServer> {
    const metadata = await realm.documents.metadata();
    const known = Object.entries(metadata).filter(([, value]) => value !== undefined);
    return { ...Object.fromEntries(known), issuer: realm.issuer };
  }

  function clientAuth({ token_endpoint_auth_methods_supported: methods }: oauth.AuthorizationServer) {
    if (clientSecret === undefined) return oauth.None();
    const isBasic = methods === undefined || methods.includes('client_secret_basic');
    return isBasic ? oauth.ClientSecretBasic(clientSecret) : oauth.ClientSecretPost(clientSecret);
  }

  /** The claims of a token that came from the realm itself, for us or for anybody. */
  async function claimsOf(token: string, audience?: string) {
    const { payload } = await jwtVerify(token, await realm.documents.keys(), {
      issuer: realm.issuer,
      ...(audience !== undefined && { audience }),
      algorithms: REALM_ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_S,
      currentDate: new Date(clock.now()),
    });
    return payload;
  }

  async function exchange(
    as: oauth.AuthorizationServer,
    answer: URL,
    state: string,
    secret: string,
    redirectUri: string,
  ) {
    const parameters = oauth.validateAuthResponse(as, client, answer, state);
    const response = await oauth.authorizationCodeGrantRequest(
      ...[as, client, clientAuth(as), parameters, redirectUri, part(secret, 'verifier')],
      {
        // Every address of the realm is https or loopback: that was looked at when it was read.
        [oauth.allowInsecureRequests]: true,
        [oauth.customFetch]: (url, { method, headers, body }) =>
          realm.documents.fetch(url, { method, headers, ...(body !== undefined && { body: String(body) }) }),
      },
    );
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, response, {
      requireIdToken: true,
      expectedNonce: part(secret, 'nonce'),
    });
    const identity = await claimsOf(tokens.id_token!, clientId);
    // Keycloak names roles in access tokens only; another kind of access token says nothing.
    const access = await claimsOf(tokens.access_token).catch(() => undefined);
    return access?.sub === identity.sub ? { ...access, ...identity } : identity;
  }

  return {
    host: new URL(realm.issuer).host,

    async begin({ returnTo, redirectUri }) {
      const { authorization_endpoint: endpoint } = await server();
      if (endpoint === undefined) throw new PlatformError('unavailable', 'The OpenID realm signs nobody in.');
      const secret = newPageToken();
      const address = new URL(endpoint);
      for (const [name, value] of Object.entries({
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: SCOPE,
        state: stateOf(secret, returnTo),
        nonce: part(secret, 'nonce'),
        code_challenge: createHash('sha256').update(part(secret, 'verifier')).digest('base64url'),
        code_challenge_method: 'S256',
      }))
        address.searchParams.set(name, value);
      return { address: address.href, secret };
    },

    async end(answer, { secret, redirectUri }) {
      const state = answer.searchParams.get('state') ?? '';
      const returnTo = Buffer.from(state.split('.')[0]!, 'base64url').toString('utf8');
      if (secret === undefined || !csrfFits(stateOf(secret, returnTo), state))
        return refused({ reason: 'realm-state' });
      try {
        const claims = await exchange(await server(), answer, state, secret, redirectUri);
        const { userId, disabled } = await realm.personIn(claims);
        return disabled ? refused({ reason: 'account-disabled', userId }) : granted({ userId, returnTo });
      } catch (thrown) {
        return refused({ reason: reasonOf(thrown) });
      }
    },
  };
}

/** A part of the sign-in that nobody can tell from the others, nor the secret from it. */
function part(secret: string, name: string): string {
  return createHmac('sha256', secret).update(`realm ${name}`).digest('base64url');
}

/** Says where the person was going, and only who has the secret can have said so. */
function stateOf(secret: string, returnTo: string): string {
  return `${Buffer.from(returnTo).toString('base64url')}.${part(secret, `state ${returnTo}`)}`;
}

/** Whatever else the libraries find wrong with an answer is the answer's fault. */
function reasonOf(thrown: unknown): RealmSignInRefusal['reason'] {
  const chain = [thrown, thrown instanceof Error ? thrown.cause : undefined];
  if (chain.some(each => each instanceof PlatformError)) return 'realm-unavailable';
  return thrown instanceof oauth.AuthorizationResponseError ? 'realm-said-no' : 'realm-answer';
}
