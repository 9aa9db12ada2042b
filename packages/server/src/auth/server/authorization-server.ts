import type { Provider } from 'oidc-provider';
import type { Audit } from '../../records/audit/audit.ts';
import type { AccessTokens } from '../token/access-token.ts';
import { askedAuthorization, askedToken } from './asked.ts';
import { CLIENT_AUTH_METHODS } from './client-auth.ts';
import { type Consents, createConsents } from './consents.ts';
import { type ClientHeaders, exchange, type LibraryAnswer } from './exchange.ts';
import { createProvider, type ProviderDeps, ROUTES } from './provider.ts';
import type { DescribedClient } from './registration.ts';
import { createTokenAnswers } from './token-answers.ts';

/**
 * Signs people in for clients and issues tokens for both doors (decisions.md 3). The protocol is the certified library's, which is loaded when
 * somebody first asks; what it is asked and what it answers passes here.
 */
export interface AuthorizationServer {
  /** What clients find out about it first (RFC 8414). Needs no library. */
  metadata(): Readonly<Record<string, unknown>>;
  /** A browser that a client has sent, with its cookies. Answers a redirect, or the JSON of an error that is to be a page. */
  authorize(search: URLSearchParams, cookie: string | undefined): Promise<LibraryAnswer>;
  /** The same browser, after the person has decided. */
  goOn(uid: string, cookie: string | undefined): Promise<LibraryAnswer>;
  token(form: URLSearchParams, headers: ClientHeaders): Promise<LibraryAnswer>;
  revoke(form: URLSearchParams, headers: ClientHeaders): Promise<LibraryAnswer>;
  introspect(form: URLSearchParams, headers: ClientHeaders): Promise<LibraryAnswer>;
  /** Keeps a client that `readClient` has found sound (RFC 7591). */
  register(client: DescribedClient): Promise<LibraryAnswer>;
  jwks(): Promise<LibraryAnswer>;
  /** What a person is asked, and what they decide. */
  readonly consents: Consents;
}

const FORM = 'application/x-www-form-urlencoded';

export function createAuthorizationServer(
  deps: ProviderDeps & {
    /** The address of the platform, without a slash at the end. */
    readonly issuer: () => string;
    readonly tokens: AccessTokens;
    readonly audit: Pick<Audit, 'note'>;
  },
): AuthorizationServer {
  const { issuer, resources } = deps;
  let loading: Promise<Provider> | undefined;
  const provider = () => {
    loading ??= createProvider(issuer(), deps);
    // A start that failed is tried again by whoever comes next.
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };
  const ask = async (asked: Parameters<typeof exchange>[1]) => exchange(await provider(), asked);
  const post = (url: string, form: URLSearchParams, { authorization }: ClientHeaders) =>
    ask({ method: 'POST', url, contentType: FORM, body: form.toString(), authorization });
  const answers = createTokenAnswers({ ...deps, post });

  return {
    metadata: () => metadataOf(issuer(), deps.clientDocument !== undefined),
    authorize: (search, cookie) =>
      ask({
        method: 'GET',
        url: `${ROUTES.authorization}?${askedAuthorization(search, resources)}`,
        cookie,
      }),
    goOn: (uid, cookie) =>
      ask({ method: 'GET', url: `${ROUTES.authorization}/${encodeURIComponent(uid)}`, cookie }),
    token: (form, headers) => post(ROUTES.token, askedToken(form, resources), headers),
    revoke: answers.revoke,
    introspect: answers.introspect,
    jwks: () => ask({ method: 'GET', url: ROUTES.jwks }),

    register: client =>
      ask({
        ...{ method: 'POST', url: ROUTES.registration, contentType: 'application/json' },
        body: JSON.stringify(client),
      }),

    consents: createConsents({ ...deps, provider }),
  };
}

function metadataOf(issuer: string, takesClientDocuments: boolean): Readonly<Record<string, unknown>> {
  return {
    issuer,
    authorization_endpoint: issuer + ROUTES.authorization,
    token_endpoint: issuer + ROUTES.token,
    registration_endpoint: issuer + ROUTES.registration,
    revocation_endpoint: issuer + ROUTES.revocation,
    introspection_endpoint: issuer + ROUTES.introspection,
    jwks_uri: issuer + ROUTES.jwks,
    scopes_supported: ['openid', 'operator', 'operator:read', 'agents'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    introspection_endpoint_auth_methods_supported: CLIENT_AUTH_METHODS,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    ...(takesClientDocuments && { client_id_metadata_document_supported: true }),
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  };
}
