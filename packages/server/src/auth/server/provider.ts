import type { errors as LibraryErrors, Provider as LibraryProvider } from 'oidc-provider';
import type { Clock } from '../../kernel/clock.ts';
import { randomBase32 } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { NoteRefusal } from '../../records/audit/refusals.ts';
import type { Store } from '../../store/store.ts';
import { findPerson } from '../../store/tables/users.ts';
import type { ResourceName, Resources } from '../token/resource.ts';
import type { SigningKeys } from '../token/signing-keys.ts';
import { CLIENT_AUTH_METHODS, isClientSecret, newClientSecret } from './client-auth.ts';
import { createRecords } from './records.ts';
import { isLoopbackRedirect } from './redirect-uri.ts';
import { reasonOf } from './refusal-reason.ts';
import { scopesOf } from './scopes.ts';

/** Where the endpoints are, below the base address. */
export const ROUTES = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  introspection: '/oauth/introspect',
  jwks: '/oauth/jwks',
} as const;

/** The client that is there from the start (E-42). */
export const SHIPPED_CLIENT = 'patchbay-mcp';
/** Cookies that bind a sign-in under way to its browser. */
const INTERACTION_COOKIE = 'patchbay_authorize';
const SESSION_COOKIE = 'patchbay_oauth_session';

const MINUTE_S = 60;
const DAY_S = 24 * 3600;
/** How long somebody may take to sign in and to decide. */
const INTERACTION_S = 30 * MINUTE_S;
/** A code lives this long (B-32). */
const CODE_S = 120;
const AGENT_TOKEN_S = 3600;
/** What an operator's token opens is more, so it is over sooner. */
const OPERATOR_TOKEN_S = 15 * MINUTE_S;
/** A client that does not come back for so long has to ask again. */
const REFRESH_S = 30 * DAY_S;
/** The draft of client id metadata documents that the library follows. */
const CLIENT_DOCUMENTS_DRAFT = 'draft-02';

export interface ProviderDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly resources: Resources;
  readonly keys: SigningKeys;
  readonly refused: NoteRefusal;
  /** Where a browser signs in and decides. */
  readonly loginUrl: () => string;
  /** Gets the description of a client whose id is an address; `undefined` while such clients are not let in. */
  readonly clientDocument: ((url: string) => Promise<Response>) | undefined;
  /** Counts: anybody may name an address. */
  readonly mayFetchDocument: () => Promise<boolean>;
}

/** The library, loaded when it is first needed, as the authorization server at `issuer`. */
export async function createProvider(issuer: string, deps: ProviderDeps): Promise<LibraryProvider> {
  const { Provider, errors, interactionPolicy } = await import('oidc-provider');
  const { store, clock, logger, resources, keys } = deps;
  const adapter = createRecords({ store, clock, resources, errors: recordErrors(errors) });

  const policy = interactionPolicy.base();
  policy.clear();
  policy.add(
    new interactionPolicy.Prompt(
      { name: 'consent', requestable: true },
      // Always: no consent of before lets a client in again without a person who looks (attack 7).
      new interactionPolicy.Check(
        'always',
        'A person is asked each time.',
        ({ oidc }) => !oidc.result?.consent,
      ),
    ),
  );

  const provider = new Provider(issuer, {
    adapter,
    routes: ROUTES,
    jwks: { keys: [keys.es256] },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    scopes: ['openid'],
    claims: { openid: ['sub'] },
    responseTypes: ['code'],
    clientAuthMethods: [...CLIENT_AUTH_METHODS],
    allowOmittingSingleRegisteredRedirectUri: false,
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'ES256',
    },
    clients: [
      {
        client_id: SHIPPED_CLIENT,
        client_name: 'Patchbay MCP',
        application_type: 'native',
        redirect_uris: ['http://127.0.0.1/', 'http://localhost/'],
      },
    ],
    pkce: {
      required: () => {
        throw new errors.InvalidRequest(
          'Missing parameter: code_challenge_method (S256), with its code_challenge',
        );
      },
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      userinfo: { enabled: false },
      registration: {
        enabled: true,
        idFactory: () => `client_${randomBase32(26)}`,
        secretFactory: newClientSecret,
        issueRegistrationAccessToken: false,
      },
      revocation: { enabled: true, allowedPolicy: isOwnToken(deps.refused) },
      introspection: { enabled: true, allowedPolicy: isOwnToken(deps.refused) },
      clientIdMetadataDocument: {
        enabled: deps.clientDocument !== undefined,
        ack: CLIENT_DOCUMENTS_DRAFT,
        allowFetch: deps.mayFetchDocument,
      },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        // A client of the first revisions names no resource: it means every agent that is granted.
        defaultResource: (_ctx: unknown, _client: unknown, oneOf?: string[]) =>
          oneOf ?? resources.addressOf({ door: 'agents' }),
        getResourceServerInfo: (ctx: { oidc: { params: { resource?: unknown } } }, address: string) => {
          const name = resources.nameOf(address);
          if (Array.isArray(ctx.oidc.params.resource) || name === undefined) {
            throw new errors.InvalidTarget(
              'Invalid parameter: resource must be the address of one door here',
            );
          }
          return doorOf(name, resources.addressOf(name), keys);
        },
      },
    },
    cookies: {
      keys: [Buffer.from(keys.cookie).toString('base64url')],
      names: {
        session: SESSION_COOKIE,
        interaction: INTERACTION_COOKIE,
        resume: `${INTERACTION_COOKIE}_resume`,
      },
      short: { signed: true, httpOnly: true, sameSite: 'lax' },
      long: { signed: true, httpOnly: true, sameSite: 'lax' },
    },
    interactions: {
      policy,
      url: (_ctx: unknown, { returnTo }: { returnTo: string }) =>
        `${deps.loginUrl()}?return_to=${encodeURIComponent(returnTo)}`,
    },
    formats: {
      customizers: {
        // The library has a clock of its own; doors and tables go by ours.
        jwt(_ctx: unknown, _token: unknown, { payload }: { payload: { iat: number; exp: number } }) {
          const now = Math.floor(clock.now() / 1000);
          payload.exp += now - payload.iat;
          payload.iat = now;
        },
      },
    },
    ttl: {
      // A number here would count before what the door says.
      AccessToken: (_ctx: unknown, { resourceServer }: { resourceServer?: { accessTokenTTL?: number } }) =>
        resourceServer?.accessTokenTTL ?? OPERATOR_TOKEN_S,
      AuthorizationCode: CODE_S,
      IdToken: AGENT_TOKEN_S,
      Interaction: INTERACTION_S,
      Session: INTERACTION_S,
      RefreshToken: REFRESH_S,
      Grant: DAY_S,
    },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,
    expiresWithSession: () => false,
    clientBasedCORS: () => true,
    extraTokenClaims: (_ctx: unknown, { grantId }: { grantId?: string }) => ({ grant: grantId }),
    findAccount: async (_ctx: unknown, id: string) => {
      const person = await findPerson(store.db, id);
      return person && !person.disabled ? { accountId: id, claims: () => ({ sub: id }) } : undefined;
    },
    loadExistingGrant: ({ oidc }: { oidc: { result?: { consent?: { grantId: string } } } }) =>
      oidc.result?.consent && provider.Grant.find(oidc.result.consent.grantId),
    // Pages are ours: the edge makes one of this answer.
    renderError: (ctx: { body: unknown }, out: object) => {
      ctx.body = out;
    },
    fetch: (url: string) => deps.clientDocument?.(url),
  });

  pinTo(provider, issuer);
  letShippedClientComeBack(provider);
  compareSecretsByHash(provider);
  tell(provider, { logger, refused: deps.refused });
  return provider;
}

/** Addresses that are handed out begin with the issuer, whatever a request says of its host and a proxy of its own. */
function pinTo(provider: LibraryProvider, issuer: string): void {
  const { protocol, host, pathname } = new URL(issuer);
  const prefix = pathname.replace(/\/$/, '');
  Object.defineProperties(provider.request, {
    protocol: { get: () => protocol.slice(0, -1) },
    host: { get: () => host },
    href: {
      get(this: { url: string }) {
        return issuer + this.url;
      },
    },
  });
  Object.defineProperty(provider.context, 'mountPath', { value: prefix });
}

/** Any port and path of this machine, and nothing else (E-42). */
function letShippedClientComeBack({ Client }: LibraryProvider): void {
  const allowed = Client.prototype.redirectUriAllowed;
  Client.prototype.redirectUriAllowed = function (this: { clientId: string }, uri) {
    return this.clientId === SHIPPED_CLIENT
      ? isLoopbackRedirect(uri)
      : allowed.call(this as typeof Client.prototype, uri);
  };
}

/** A client as it is found has the hash of its secret, and no more is kept. */
function compareSecretsByHash({ Client }: LibraryProvider): void {
  Client.prototype.compareClientSecret = function (this: { clientSecret?: string }, presented) {
    return isClientSecret(presented, this.clientSecret);
  };
}

const ERROR_EVENTS = [
  'authorization.error',
  'grant.error',
  'registration_create.error',
  'revocation.error',
  'introspection.error',
];

/** Our log and audit trail hear what the library refuses, and what broke; neither hears a code, token or verifier. */
function tell(
  provider: LibraryProvider,
  { logger, refused }: { readonly logger: Logger; readonly refused: NoteRefusal },
): void {
  provider.silent = true;
  provider.on('error', (error: unknown) => logger.error('The authorization server failed', { error }));
  provider.on('server_error', (_ctx: unknown, error: unknown) =>
    logger.error('The authorization server failed', { error }),
  );
  for (const event of ERROR_EVENTS) {
    provider.on(event, (ctx: { oidc: { client?: { clientId: string } } }, error: unknown) => {
      const reason = reasonOf(error);
      const clientId = ctx.oidc.client?.clientId;
      logger.info('refused by the authorization server', { reason, clientId });
      refused({ door: 'oauth', reason, subject: { clientId } });
    });
  }
}

function isOwnToken(refused: NoteRefusal) {
  return (_ctx: unknown, { clientId }: { clientId: string }, token: { clientId: string }) => {
    if (clientId === token.clientId) return true;
    refused({ door: 'oauth', reason: 'other-client', subject: { clientId } });
    return false;
  };
}

/** Tokens of a door: how they are signed, for whom, and how long they last (B-12). */
function doorOf(name: ResourceName, audience: string, keys: SigningKeys) {
  const common = { audience, accessTokenFormat: 'jwt', scope: scopesOf(name.door).join(' ') };
  return name.door === 'operator'
    ? { ...common, accessTokenTTL: OPERATOR_TOKEN_S, jwt: { sign: { alg: 'ES256', kid: keys.es256.kid } } }
    : {
        ...common,
        accessTokenTTL: AGENT_TOKEN_S,
        jwt: { sign: { alg: 'HS256', key: Buffer.from(keys.hs256) } },
      };
}

function recordErrors({ InvalidGrant, SessionNotFound, InvalidRequest }: typeof LibraryErrors) {
  return {
    usedUp: () => new InvalidGrant('already used'),
    alreadyAnswered: () => new SessionNotFound('This request was answered already.'),
    tooManyClients: () => new InvalidRequest('Too many clients are registered here.'),
  };
}
