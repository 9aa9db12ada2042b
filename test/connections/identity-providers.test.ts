import { afterAll, describe, expect, it } from 'vitest';
import { clientCredentials } from '../../packages/server/src/connections/credential/grant.ts';
import { createOAuthCredential } from '../../packages/server/src/connections/credential/oauth-credential.ts';
import { type Redirect, signIn } from '../../packages/server/src/connections/credential/sign-in.ts';
import { createMemoryTokenStore } from '../../packages/server/src/connections/credential/token-store.ts';
import { createSafeFetch, type SafeFetch } from '../../packages/server/src/kernel/safe-fetch.ts';

const outside = createSafeFetch({ allowPrivate: () => true });
afterAll(() => outside.close());

/** What a provider answers; `undefined` is nothing there. */
type Provider = (
  path: string,
  request: { readonly form: URLSearchParams; readonly headers: Headers; readonly text: string },
) => { readonly status?: number; readonly body: unknown; readonly type?: string } | undefined;

const back = 'https://patchbay.example/back';
const mcp = 'https://tools.example/mcp';

/** An MCP server whose tokens a provider at this issuer gives, and that provider: the outside network. */
function signInAt(issuer: string, provider: Provider, options: { readonly registered?: object } = {}) {
  const visited: URLSearchParams[] = [];
  const forms: URLSearchParams[] = [];
  const fetch: SafeFetch = Object.assign(
    async (address: string | URL, init: RequestInit): Promise<Response> => {
      const url = new URL(address);
      if (url.href === 'https://tools.example/.well-known/oauth-protected-resource/mcp')
        return Response.json({
          ...{ resource: mcp, authorization_servers: [issuer], scopes_supported: ['read', 'odd'] },
        });
      const text = init.body === undefined ? '' : String(init.body);
      const form = new URLSearchParams(text);
      if (url.origin !== new URL(issuer).origin) return new Response(null, { status: 404 });
      const answer = provider(url.pathname, { form, text, headers: new Headers(init.headers) });
      if (!answer) return new Response(null, { status: 404 });
      if (form.has('grant_type')) forms.push(form);
      const { status = 200, body, type = 'application/json' } = answer;
      return new Response(typeof body === 'string' ? body : JSON.stringify(body), {
        status,
        headers: { 'content-type': type },
      });
    },
    outside,
  );
  const redirect: Redirect = {
    url: back,
    async visit({ searchParams }) {
      visited.push(searchParams);
      return new URLSearchParams({ code: 'c', state: searchParams.get('state')! });
    },
  };
  const person = options.registered === undefined;
  const given = { id: 'us', secret: 'our-secret', ...options.registered };
  return {
    visited,
    forms,
    /** What a request shows after the server has refused it without a token. */
    async shown(more: Partial<Parameters<typeof createOAuthCredential>[0]> = {}) {
      const credential = createOAuthCredential({
        ...{ url: mcp, hostFrom: 'operator', fetch, store: createMemoryTokenStore() },
        grant: person ? signIn(redirect) : clientCredentials,
        identity: person ? { name: 'Patchbay' } : { name: 'Patchbay', registered: given },
        clock: { now: () => 1_000_000 },
        ...more,
      });
      await credential.refused({ status: 401, headers: { 'www-authenticate': 'Bearer' }, shown: {} });
      return credential.headers({ method: 'POST', url: new URL(mcp) });
    },
  };
}

/** Metadata as providers have it, under the path the issuer's own path leads to. */
const metadataOf = (issuer: string, more: object = {}) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
  ...more,
});
const isMetadata = (path: string) => path.includes('/.well-known/');
const token = { access_token: 'got', token_type: 'Bearer' };
const registered = { identity: { name: 'Patchbay', registered: { id: 'us', secret: 'our-secret' } } };

describe('Microsoft Entra', () => {
  const issuer = 'https://login.microsoftonline.com/tenant/v2.0';
  /** Says nothing of PKCE in its metadata, and wants it. */
  const entra: Provider = (path, { form }) => {
    const { code_challenge_methods_supported: _, ...metadata } = metadataOf(issuer);
    if (isMetadata(path)) return { body: { ...metadata, scopes_supported: ['offline_access'] } };
    if (form.get('grant_type') === 'authorization_code' && !form.has('code_verifier'))
      return { status: 400, body: { error: 'invalid_grant', error_description: 'AADSTS50148' } };
    if (form.has('resource'))
      return {
        status: 400,
        body: { error: 'invalid_request', error_description: 'AADSTS901002: no resource' },
      };
    if (form.get('grant_type') === 'client_credentials' && !form.get('scope')?.endsWith('/.default'))
      return { status: 400, body: { error: 'invalid_scope', error_description: 'AADSTS1002012' } };
    return { body: token };
  };

  it('is not told what tokens are for as `resource`, and its page is not told to ask for consent', async () => {
    const at = signInAt(issuer, entra);
    expect(await at.shown(registered)).toEqual({ authorization: 'Bearer got' });
    expect(at.visited[0]!.get('scope')).toBe('read odd offline_access');
    expect(at.visited[0]!.has('resource')).toBe(false);
    expect(at.visited[0]!.has('prompt')).toBe(false);
    expect(at.visited[0]!.get('code_challenge_method')).toBe('S256');
  });

  it('refuses other scopes than its own, which is said', async () => {
    const at = signInAt(issuer, entra, { registered: {} });
    await expect(at.shown()).rejects.toThrow('it takes scopes such as api://<application>/.default');
    expect(await at.shown({ scope: 'api://crm/.default' })).toEqual({ authorization: 'Bearer got' });
  });

  it('can be told it all the same, where somebody knows better', async () => {
    const at = signInAt(issuer, entra, { registered: {} });
    await expect(at.shown({ scope: 'api://crm/.default', sendResource: true })).rejects.toThrow(
      'AADSTS901002',
    );
  });
});

describe('Okta', () => {
  it('wants a token for registrations, so it is asked for none, and people are told what to do', async () => {
    const issuer = 'https://acme.okta.com/oauth2/default';
    const asked: string[] = [];
    const okta: Provider = path => {
      asked.push(path);
      if (isMetadata(path))
        return {
          body: metadataOf(issuer, { registration_endpoint: 'https://acme.okta.com/oauth2/v1/clients' }),
        };
      if (path === '/oauth2/v1/clients') return { status: 403, body: { errorCode: 'E0000005' } };
      return { body: token };
    };
    const at = signInAt(issuer, okta);
    await expect(at.shown()).rejects.toThrow(
      'Okta does not let clients register themselves: register one in its applications, with the redirect address https://patchbay.example/back, and give it as oauth.clientId and oauth.clientSecret',
    );
    expect(asked).not.toContain('/oauth2/v1/clients');
    expect(await at.shown(registered)).toEqual({ authorization: 'Bearer got' });
  });
});

describe('Keycloak', () => {
  const issuer = 'https://id.acme.example/realms/crm';
  const keycloak: Provider = (path, { form, text }) => {
    if (isMetadata(path))
      return {
        body: metadataOf(issuer, {
          registration_endpoint: `${issuer}/clients-registrations/openid-connect`,
          scopes_supported: ['openid', 'read', 'offline_access'],
        }),
      };
    if (path.endsWith('/openid-connect')) {
      const { client_name, redirect_uris, grant_types, ...unknown } = JSON.parse(text) as Record<
        string,
        unknown
      >;
      const [odd] = Object.keys(unknown);
      return odd === undefined
        ? { status: 201, body: { client_id: 'made', client_name, redirect_uris, grant_types } }
        : { status: 400, body: { error: `Unrecognized field "${odd}"` } };
    }
    return form.get('client_id') === 'made'
      ? { body: token }
      : { status: 401, body: { error: 'invalid_client' } };
  };

  it('is registered at with little, and asked for no scope that it does not know', async () => {
    const at = signInAt(issuer, keycloak);
    expect(await at.shown()).toEqual({ authorization: 'Bearer got' });
    expect(at.visited[0]!.get('scope')).toBe('read offline_access');
    expect(at.visited[0]!.get('resource')).toBe(mcp);
  });
});

describe('Google', () => {
  it('is asked for a token that renews, in its own way', async () => {
    const issuer = 'https://accounts.google.com';
    let renews = false;
    const google: Provider = path => {
      if (isMetadata(path)) return { body: metadataOf(issuer) };
      return { body: { ...token, ...(renews && { refresh_token: 'again' }) } };
    };
    const at = signInAt(issuer, google);
    const store = createMemoryTokenStore();
    const page: Redirect = {
      url: back,
      async visit({ searchParams }) {
        renews = searchParams.get('access_type') === 'offline' && searchParams.get('prompt') === 'consent';
        return new URLSearchParams({ code: 'c', state: searchParams.get('state')! });
      },
    };
    await at.shown({ ...registered, grant: signIn(page), store });
    expect((await store.read())!.token).toMatchObject({ value: 'got', refresh: 'again' });
  });
});

describe('GitHub', () => {
  const issuer = 'https://github.com/login/oauth';
  const github: Provider = (path, { form, headers }) => {
    if (path === '/.well-known/oauth-authorization-server/login/oauth') return { body: metadataOf(issuer) };
    if (path !== '/login/oauth/token') return undefined;
    const answer =
      form.get('code') === 'c' ? token : { error: 'bad_verification_code', error_description: 'old' };
    return headers.get('accept') === 'application/json'
      ? { body: answer }
      : { body: String(new URLSearchParams(answer)), type: 'application/x-www-form-urlencoded' };
  };

  it('is asked for JSON, and only as a client that is registered', async () => {
    const at = signInAt(issuer, github);
    expect(await at.shown(registered)).toEqual({ authorization: 'Bearer got' });
    await expect(at.shown()).rejects.toThrow(
      'GitHub does not let clients register themselves: register one in its developer settings',
    );
  });

  it('refuses with status 200, which is a refusal', async () => {
    const at = signInAt(issuer, github, { registered: {} });
    await expect(at.shown()).rejects.toThrow('bad_verification_code: old');
  });
});

describe('Auth0', () => {
  const issuer = 'https://acme.eu.auth0.com';
  const auth0: Provider = (path, { form }) => {
    if (isMetadata(path)) return { body: metadataOf(issuer) };
    if (form.get('grant_type') === 'client_credentials' && !form.has('audience'))
      return { status: 403, body: { error: 'access_denied', error_description: 'No audience parameter' } };
    return { body: token };
  };

  it('is told what tokens are for as `audience`, too: the server, or what is configured', async () => {
    const machine = signInAt(issuer, auth0, { registered: {} });
    expect(await machine.shown()).toEqual({ authorization: 'Bearer got' });
    await machine.shown({ audience: 'https://api.acme.example' });
    expect(machine.forms.map(form => form.get('audience'))).toEqual([mcp, 'https://api.acme.example']);
    const person = signInAt(issuer, auth0);
    await person.shown(registered);
    expect(person.visited[0]!.get('audience')).toBe(mcp);
    expect(person.forms[0]!.has('audience')).toBe(false);
  });
});

describe('Any other provider', () => {
  it('that lets nobody register is said to, too', async () => {
    const issuer = 'https://id.acme.example';
    const at = signInAt(issuer, path => (isMetadata(path) ? { body: metadataOf(issuer) } : undefined));
    await expect(at.shown()).rejects.toThrow(
      'the authorization server does not let clients register themselves',
    );
  });
});
