import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBrowser, hiddenFields } from './browser.ts';
import { CALLBACK, claimsOf, clientOf, newClient } from './rig.ts';

const documentAt = async (url: string) => {
  const response = await fetch(url);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

const METHODS = ['none', 'client_secret_post', 'client_secret_basic'];

describe('what clients are told of the authorization server', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform();
  });
  afterAll(() => platform.close());

  it.each(['oauth-authorization-server', 'openid-configuration'])(
    'is one document under every path at which hosts look for %s (B-05)',
    async kind => {
      const { body: first } = await documentAt(`${platform.url}/.well-known/${kind}`);
      expect(first).toMatchObject({
        issuer: platform.url,
        authorization_endpoint: `${platform.url}/oauth/authorize`,
        token_endpoint: `${platform.url}/oauth/token`,
        registration_endpoint: `${platform.url}/oauth/register`,
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: METHODS,
        revocation_endpoint_auth_methods_supported: METHODS,
        introspection_endpoint_auth_methods_supported: METHODS,
        grant_types_supported: ['authorization_code', 'refresh_token'],
        response_types_supported: ['code'],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
      });
      for (const path of [
        `/.well-known/${kind}/mcp`,
        `/.well-known/${kind}/demo/mcp`,
        `/mcp/.well-known/${kind}`,
        `/demo/mcp/.well-known/${kind}`,
      ])
        expect(await documentAt(platform.url + path)).toEqual({ status: 200, body: first });
      for (const path of [`/.well-known/${kind}/elsewhere`, `/.well-known/${kind}/Demo/mcp`])
        expect((await documentAt(platform.url + path)).status).toBe(404);
    },
  );

  it('leads to the public keys, and to no private one', async () => {
    const { body } = await documentAt(`${platform.url}/oauth/jwks`);
    const [key, ...others] = body.keys as Record<string, unknown>[];
    expect(others).toEqual([]);
    expect(Object.keys(key!).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  });

  const page = { origin: 'https://inspector.example' };
  it('may be asked by a page from anywhere, without cookies', async () => {
    const ends = [
      ['GET', '/.well-known/oauth-authorization-server'],
      ['GET', '/mcp/.well-known/openid-configuration'],
      ['GET', '/oauth/jwks'],
      ['POST', '/oauth/register'],
      ['POST', '/oauth/token'],
      ['POST', '/oauth/revoke'],
    ] as const;
    for (const [method, path] of ends) {
      const answer = await fetch(platform.url + path, { method, headers: page });
      expect([path, answer.status === 403]).toEqual([path, false]);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      const preflight = await fetch(platform.url + path, {
        method: 'OPTIONS',
        headers: {
          ...page,
          'access-control-request-method': method,
          'access-control-request-headers': 'content-type',
        },
      });
      expect([path, preflight.status]).toEqual([path, 204]);
      expect(preflight.headers.get('access-control-allow-headers')).toContain('content-type');
    }
  });

  it('is all that a page from elsewhere may ask: neither the pages nor the rest of it', async () => {
    for (const [method, path] of [
      ['GET', '/oauth/authorize'],
      ['POST', '/oauth/authorize'],
      ['POST', '/oauth/introspect'],
      ['POST', '/mcp-login'],
      ['GET', '/mcp-login'],
      ['GET', '/oauth/token'],
      ['POST', '/oauth/token/x'],
      ['POST', '/oauth/jwks'],
      ['OPTIONS', '/mcp'],
    ] as const) {
      const answer = await fetch(platform.url + path, { method, headers: page, redirect: 'manual' });
      expect([path, answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([
        path,
        403,
        null,
      ]);
    }
  });

  it('is told only to whoever names a host of ours, whichever endpoint it is (attack 35)', async () => {
    const { request } = await import('node:http');
    const { port } = new URL(platform.url);
    const ask = (path: string, headers: Record<string, string>) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        request({ port, host: '127.0.0.1', path, headers }, response => {
          let text = '';
          response.on('data', chunk => {
            text += chunk;
          });
          response.on('end', () => resolve({ status: response.statusCode!, text }));
        })
          .on('error', reject)
          .end();
      });
    expect((await ask('/.well-known/oauth-authorization-server', { host: 'evil.example' })).status).toBe(403);
    const forwarded = {
      host: `localhost:${port}`,
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
    };
    const { text } = await ask('/.well-known/oauth-authorization-server', forwarded);
    expect(JSON.parse(text).issuer).toBe(platform.url);
  });

  it('is no more than what there is: another method and another path are nothing', async () => {
    for (const [method, path] of [
      ['GET', '/oauth/token'],
      ['POST', '/oauth/authorize'],
      ['GET', '/oauth/register'],
      ['GET', '/oauth/nothing'],
      ['GET', '/oauth/register/client_x'],
    ] as const)
      expect((await fetch(platform.url + path, { method })).status).toBe(404);
  });

  it('answers what is no form with an error that clients can read', async () => {
    for (const endpoint of ['token', 'revoke', 'introspect']) {
      for (const init of [{ body: '{}', headers: { 'content-type': 'application/json' } }, {}]) {
        const answer = await fetch(`${platform.url}/oauth/${endpoint}`, { method: 'POST', ...init });
        expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_request' }]);
      }
    }
    const big = await fetch(`${platform.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ code: 'a'.repeat(20_000) }),
    });
    expect(big.status).toBe(400);
  });
});

describe('an installation with an address of its own, behind a proxy that has a prefix for it', () => {
  const base = 'https://bay.example/x';
  let platform: TestPlatform;
  beforeAll(async () => {
    const env = { PATCHBAY_PUBLIC_URL: base, PATCHBAY_SIGN_IN_CLIENT_DOCUMENTS: 'false' };
    platform = await startTestPlatform({ env });
  });
  afterAll(() => platform.close());

  it('tells that address everywhere, and that documents do not describe clients', async () => {
    const { body } = await documentAt(`${platform.url}/.well-known/oauth-authorization-server/x`);
    expect(body).toMatchObject({ issuer: base, token_endpoint: `${base}/oauth/token` });
    expect(body.client_id_metadata_document_supported).toBeUndefined();
    expect(await documentAt(`${platform.url}/.well-known/oauth-authorization-server`)).toMatchObject({
      body,
    });
  });

  it('sends who follows the link of an agent to sign in, and then on to where they wanted', async () => {
    const sent = await fetch(`${platform.url}/connect/pause_1`, { redirect: 'manual' });
    expect(sent.headers.get('location')).toBe('/x/sign-in?return_to=%2Fconnect%2Fpause_1');
  });

  it('takes a person from a client to a token, at that address only (B-27)', async () => {
    /** What the proxy does: it takes its prefix off, and forwards. */
    const throughProxy = (url: string, init: RequestInit) => {
      if (!url.startsWith(`${base}/`)) throw new Error(`${url} is not behind the proxy.`);
      const headers = new Headers(init.headers);
      if (headers.has('origin')) headers.set('origin', 'https://bay.example');
      return fetch(platform.url + url.slice(base.length), { ...init, headers });
    };
    const nobody = createBrowser(base, throughProxy);
    const signIn = await nobody.follow(await nobody.get(clientOf(base, 'patchbay-mcp').authorizeUrl()));
    expect(signIn.url.startsWith(`${base}/sign-in?return_to=`)).toBe(true);
    expect(signIn.text).toContain('action="/x/sign-in"');
    const browser = createBrowser(base, throughProxy);
    const { url } = await platform.platform.links.make(platform.platform.owner.id, 'sign-in');
    await browser.post(url, hiddenFields(await browser.get(url)));
    const { id } = await newClient(platform);
    const client = clientOf(base, id);
    const sent = await browser.get(client.authorizeUrl({ resource: `${base}/mcp` }));
    expect(sent.location?.href.startsWith(`${base}/mcp-login?return_to=`)).toBe(true);
    expect(
      sent.headers.getSetCookie().every(cookie => /secure/i.test(cookie) && /httponly/i.test(cookie)),
    ).toBe(true);
    const page = await browser.follow(sent);
    const decided = await browser.post(page.url, { ...hiddenFields(page), decision: 'allow' });
    const { location } = await browser.follow(decided);
    expect(location?.href.startsWith(CALLBACK)).toBe(true);
    expect(location?.searchParams.get('iss')).toBe(base);
    const redeemed = await clientOf(platform.url, id).redeem(location!.searchParams.get('code')!, {
      code_verifier: client.verifier,
    });
    expect(claimsOf(redeemed.body.access_token)).toMatchObject({ iss: base, aud: `${base}/mcp` });
  });
});

describe('an installation whose operator door trusts a realm', () => {
  it('gives no tokens for that door, and those of the agent door as ever (E-41, E-44)', async () => {
    const platform = await startTestPlatform({ env: { PATCHBAY_OIDC_ISSUER: 'http://127.0.0.1:9' } });
    try {
      const browser = createBrowser(platform.url);
      const client = clientOf(platform.url, 'patchbay-mcp');
      const refused = await browser.get(client.authorizeUrl({ resource: platform.operatorUrl }));
      expect(refused.location?.searchParams.get('error')).toBe('invalid_target');
      const sent = await browser.get(client.authorizeUrl({ resource: platform.agentUrl('demo') }));
      expect(sent.location?.pathname).toBe('/mcp-login');
    } finally {
      await platform.close();
    }
  });
});
