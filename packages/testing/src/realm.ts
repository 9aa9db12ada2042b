import { createHash, randomBytes } from 'node:crypto';
import { createCookieJar } from './cookie-jar.ts';
import { type GrantContext, grantAll, listenOnLoopback, newSigningKey, Provider } from './openid-provider.ts';

/** Somebody whom the realm knows. */
export interface RealmUser {
  readonly subject: string;
  /** As its `realm_access.roles` has them. */
  readonly roles: readonly string[];
  readonly name?: string;
}

/** An OpenID realm on loopback, played by a certified provider: everybody who comes to it is signed in as `signsIn` says. */
export interface TestRealm extends AsyncDisposable {
  readonly issuer: string;
  /** A confidential client that may come back to any port of this machine at `/sign-in/realm/callback`. */
  readonly client: { readonly id: string; readonly secret: string };
  /** From now on. */
  signsIn(user: RealmUser): void;
  /** An access token of the user, by a code with PKCE, for a resource. */
  token(user: RealmUser, resource: string): Promise<string>;
  /** The same with its id token. */
  tokens(user: RealmUser, resource: string): Promise<{ readonly access: string; readonly id: string }>;
  /** A browser that is sent to an address of the realm: where the realm sends it in the end. */
  walk(address: string): Promise<URL>;
  /** Private keys, newest first, with which what the realm would never say can be signed. */
  readonly keys: readonly Record<string, unknown>[];
  /** Another key signs from now on; the old one is gone. */
  rotate(): void;
  /** Answers 503 until it is told otherwise. */
  setDown(down: boolean): void;
  /** How often a path was asked for. */
  asked(path: string): number;
  /** What was asked of it so far, as `GET /jwks`. */
  requests(): readonly string[];
}

const HOST_CLIENT = 'host';
const HOST_REDIRECT = 'http://127.0.0.1/callback';
const SCOPES = 'openid profile';

export async function startTestRealm(): Promise<TestRealm> {
  const users = new Map<string, RealmUser>();
  const counts = new Map<string, number>();
  const requests: string[] = [];
  const client = { id: 'patchbay', secret: randomBytes(24).toString('hex') };
  let user: RealmUser = { subject: 'nobody', roles: [] };
  let down = false;
  let keys = [newSigningKey()];
  let provider: Provider;

  const site = await listenOnLoopback(async (request, response) => {
    const path = request.url!.split('?')[0]!;
    counts.set(path, (counts.get(path) ?? 0) + 1);
    requests.push(`${request.method} ${path}`);
    if (down) return void response.writeHead(503).end();
    if (!path.startsWith('/interaction/')) return provider.callback()(request, response);
    await provider.interactionFinished(request, response, {
      login: { accountId: user.subject },
      consent: {},
    });
  });
  const issuer = site.origin;

  function build(): void {
    const claimsOf = (subject: string) => {
      const { roles, name } = users.get(subject)!;
      return { realm_access: { roles }, ...(name !== undefined && { preferred_username: name }) };
    };
    provider = new Provider(issuer, {
      clients: [
        {
          client_id: HOST_CLIENT,
          redirect_uris: [HOST_REDIRECT],
          application_type: 'native',
          token_endpoint_auth_method: 'none',
          grant_types: ['authorization_code'],
          response_types: ['code'],
        },
        {
          client_id: client.id,
          client_secret: client.secret,
          redirect_uris: ['http://127.0.0.1/sign-in/realm/callback'],
          application_type: 'native',
          grant_types: ['authorization_code'],
          response_types: ['code'],
        },
      ],
      jwks: { keys },
      cookies: { keys: [randomBytes(16).toString('hex')] },
      claims: { openid: ['sub', 'realm_access'], profile: ['preferred_username'] },
      conformIdTokenClaims: false,
      findAccount: (_: unknown, subject: string) => ({
        accountId: subject,
        claims: () => ({ sub: subject, ...claimsOf(subject) }),
      }),
      extraTokenClaims: (_: unknown, token: { accountId: string }) => claimsOf(token.accountId),
      features: {
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => undefined,
          useGrantedResource: () => true,
          getResourceServerInfo: (_: unknown, audience: string) => ({
            audience,
            scope: SCOPES,
            accessTokenFormat: 'jwt',
            accessTokenTTL: 300,
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      ttl: {
        AccessToken: 300,
        AuthorizationCode: 60,
        IdToken: 300,
        Grant: 600,
        Interaction: 600,
        Session: 600,
      },
      loadExistingGrant: (context: GrantContext) => grantAll(provider, context, SCOPES, SCOPES),
    });
  }
  build();

  function signsIn(next: RealmUser): void {
    user = next;
    users.set(next.subject, next);
  }

  async function tokens(who: RealmUser, resource: string) {
    signsIn(who);
    const verifier = randomBytes(32).toString('base64url');
    const asked = new URLSearchParams({
      client_id: HOST_CLIENT,
      redirect_uri: HOST_REDIRECT,
      response_type: 'code',
      scope: SCOPES,
      resource,
      code_challenge_method: 'S256',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    });
    const back = await walkFrom(`${issuer}/auth?${asked}`);
    const answer = await fetch(`${issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        client_id: HOST_CLIENT,
        grant_type: 'authorization_code',
        redirect_uri: HOST_REDIRECT,
        code: back.searchParams.get('code') ?? '',
        code_verifier: verifier,
        resource,
      }),
    });
    const body = (await answer.json()) as { access_token?: string; id_token?: string };
    if (!body.access_token || !body.id_token) throw new Error(`No token: ${JSON.stringify(body)}`);
    return { access: body.access_token, id: body.id_token };
  }

  return {
    issuer,
    client,
    signsIn,
    walk: walkFrom,
    tokens,
    token: async (who, resource) => (await tokens(who, resource)).access,
    get keys() {
      return keys;
    },
    rotate() {
      keys = [newSigningKey()];
      build();
    },
    setDown(next) {
      down = next;
    },
    asked: path => counts.get(path) ?? 0,
    requests: () => [...requests],
    [Symbol.asyncDispose]: site.close,
  };
}

/** As a browser would, with the cookies of the answers before, until it is sent to somebody else. */
async function walkFrom(address: string): Promise<URL> {
  const jar = createCookieJar();
  const { origin } = new URL(address);
  let next = new URL(address);
  for (let redirects = 0; redirects < 10; redirects += 1) {
    const headers = { cookie: jar.cookiesFor(next.pathname) };
    const answer = await fetch(next, { redirect: 'manual', headers });
    jar.keep(answer.headers);
    const location = answer.headers.get('location');
    if (location === null)
      throw new Error(`${next.pathname} answered ${answer.status}: ${await answer.text()}`);
    next = new URL(location, next);
    if (next.origin !== origin) return next;
  }
  throw new Error('Too many redirects.');
}
