import type { TestPlatform } from '@patchbay/testing/platform';
import { startTestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findGrant } from '../../packages/server/src/store/tables/grants.ts';
import { createJumpingClock } from '../jumping-clock.ts';
import { type Browser, createBrowser } from './browser.ts';
import { refusedReasons } from './refused-reasons.ts';
import {
  CALLBACK,
  claimsOf,
  clientOf,
  codeFor,
  consentPage,
  decide,
  newClient,
  post,
  signedIn,
  type TestClient,
} from './rig.ts';

const clock = createJumpingClock();
let platform: TestPlatform;
let browser: Browser;
let client: TestClient;
beforeAll(async () => {
  platform = await startTestPlatform({ overrides: { clock } });
  browser = await signedIn(platform);
  client = await newClient(platform);
});
afterAll(() => platform.close());

const refused = (reason: string) =>
  expect.poll(() => refusedReasons(platform), { timeout: 2_000 }).toContain(reason);

describe('a code (attack 5, B-32)', () => {
  it.each([
    ['with a verifier of another request', { code_verifier: 'a'.repeat(43) }, 'wrong-verifier'],
    ['without a verifier', { code_verifier: undefined }, 'wrong-verifier'],
    ['with another address to come back to', { redirect_uri: `${CALLBACK}2` }, 'other-redirect-uri'],
    ['without that address', { redirect_uri: undefined }, 'missing-parameter'],
  ])('buys nothing %s', async (_how, parameters, reason) => {
    const code = await codeFor(browser, client.authorizeUrl());
    const { status, body } = await client.redeem(code, parameters);
    expect([status, body.access_token]).toEqual([400, undefined]);
    await refused(reason);
  });

  it('of another client buys nothing, with its own verifier, too', async () => {
    const code = await codeFor(browser, client.authorizeUrl());
    const other = await newClient(platform);
    const { status, body } = await other.redeem(code, { code_verifier: client.verifier });
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
    await refused('other-client');
  });

  it('that is used again takes back what it gave', async () => {
    const code = await codeFor(browser, client.authorizeUrl());
    const { body } = await client.redeem(code);
    const again = await client.redeem(code);
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
    const grant = await findGrant(platform.platform.store.db, claimsOf(body.access_token).grant as string);
    expect(grant?.revokedAt).toBeDefined();
    expect((await client.refresh(body.refresh_token!)).body.error).toBe('invalid_grant');
    await refused('code-used-again');
  });

  it('redeemed twice at the same moment buys one token at most, which then is worth nothing', async () => {
    const code = await codeFor(browser, client.authorizeUrl());
    const answers = await Promise.all([client.redeem(code), client.redeem(code), client.redeem(code)]);
    const tokens = answers.flatMap(({ body }) => body.access_token ?? []);
    expect(tokens.length).toBeLessThanOrEqual(1);
    for (const token of tokens) {
      const grant = await findGrant(platform.platform.store.db, claimsOf(token).grant as string);
      expect(grant?.revokedAt).toBeDefined();
    }
  });

  it('is over after 120 seconds', async () => {
    const code = await codeFor(browser, client.authorizeUrl());
    clock.jump(121_000);
    expect((await client.redeem(code)).body.error).toBe('invalid_grant');
    await refused('unknown-code');
  });

  it('that was made up is none', async () => {
    for (const code of ['x', 'a'.repeat(43), '\0', '%', 'ü'.repeat(100), `${'a'.repeat(3000)}`]) {
      expect((await client.redeem(code)).body.error).toBe('invalid_grant');
    }
  });
});

describe('what a browser is sent with', () => {
  const wrongPage = async (url: string) => {
    const answer = await browser.get(url);
    expect([answer.location, answer.status, answer.headers.get('content-type')]).toEqual([
      undefined,
      400,
      'text/html; charset=utf-8',
    ]);
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    return answer.text;
  };

  it.each([
    ['no challenge', { code_challenge: undefined, code_challenge_method: undefined }],
    ['no method', { code_challenge_method: undefined }],
    ['the method plain', { code_challenge_method: 'plain' }],
    ['no challenge to its method', { code_challenge: undefined }],
  ])('%s goes back with an error that names code_challenge_method (attack 5)', async (_what, parameters) => {
    const { location } = await browser.get(client.authorizeUrl(parameters));
    expect(location?.origin + location!.pathname).toBe(CALLBACK);
    const answer = Object.fromEntries(location!.searchParams);
    expect(answer).toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringContaining('code_challenge_method'),
      iss: platform.url,
      state: 'a state, +unchanged/=&%',
    });
    await refused('no-pkce');
  });

  it.each([
    `${CALLBACK}/more`,
    `${CALLBACK}?x=1`,
    `${CALLBACK}#x`,
    `${CALLBACK}/../other`,
    'http://127.0.0.1.evil.test:33418/callback',
    'http://evil.test@127.0.0.1:33418/callback',
    'http://127.0.0.1:33418@evil.test/callback',
    'http://127.0.0.1:33418\\@evil.test/callback',
    '//127.0.0.1:33418/callback',
    'http://localhost:33418/callback',
    'http://127.1:33418/callback',
    'https://127.0.0.1:33418/callback',
    'http://[::ffff:127.0.0.1]:33418/callback',
    'http://127。0。0。1:33418/callback',
    'http://10.0.0.1:33418/callback',
    'javascript:alert(1)//127.0.0.1:33418/callback',
    'data:text/html,x',
    '',
    undefined,
  ])(
    'the address %s to come back to leads nowhere, and the page names redirect_uri (B-33, attack 6)',
    async uri => {
      expect(await wrongPage(client.authorizeUrl({ redirect_uri: uri }))).toContain('redirect_uri');
      await refused(uri === undefined ? 'missing-parameter' : 'redirect-uri-not-registered');
    },
  );

  it('another port of this machine comes back there, with the same path only (attack 6)', async () => {
    const elsewhere = CALLBACK.replace('33418', '50123');
    const page = await consentPage(browser, client.authorizeUrl({ redirect_uri: elsewhere }));
    const { location } = await decide(browser, page);
    expect(location?.href.startsWith(`${elsewhere}?code=`)).toBe(true);
    expect((await client.redeem(location!.searchParams.get('code')!)).body.error).toBe('invalid_grant');
  });

  it('an https address comes back to exactly that one (attack 6)', async () => {
    const redirect = 'https://editor.example/callback';
    const web = await newClient(platform, { description: { redirect_uris: [redirect] }, redirect });
    const page = await consentPage(browser, web.authorizeUrl());
    expect(page.text).toContain('editor.example');
    expect(page.headers.get('content-security-policy')).toContain(
      "form-action 'self' https://editor.example;",
    );
    for (const other of [
      'https://editor.example:8443/callback',
      'https://editor.example/callback/',
      'https://sub.editor.example/callback',
      'http://editor.example/callback',
      'https://EDITOR.example/callback',
      'https://editor.example./callback',
      'https://editor.example/%63allback',
    ])
      expect(await wrongPage(web.authorizeUrl({ redirect_uri: other }))).toContain('redirect_uri');
  });

  it('a client nobody knows gets a page', async () => {
    for (const id of ['client_none', '', 'a'.repeat(5000), 'x\u0001', 'https://127.0.0.1/client.json']) {
      const answer = await browser.get(client.authorizeUrl({ client_id: id }));
      expect([answer.status, answer.location]).toEqual([400, undefined]);
    }
    const { text } = await browser.get(client.authorizeUrl({ client_id: 'client_none' }));
    expect(text).toContain('not known here');
    expect(text).toContain('add it again');
    await refused('unknown-client');
  });

  it.each([
    ['response_mode', { response_mode: 'fragment' }, 'unsupported_response_mode'],
    ['response_mode', { response_mode: 'form_post' }, 'unsupported_response_mode'],
    ['request', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
    ['request_uri', { request_uri: 'https://evil.test/r' }, 'request_uri_not_supported'],
    ['resource', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    ['prompt', { prompt: 'none' }, 'consent_required'],
  ])(
    '%s of a kind that is not served goes back with an error, in the query',
    async (_name, parameters, error) => {
      const { location } = await browser.get(client.authorizeUrl(parameters));
      expect(location?.origin + location!.pathname).toBe(CALLBACK);
      expect(location?.searchParams.get('error')).toBe(error);
      expect(location?.searchParams.get('iss')).toBe(platform.url);
      expect(location?.hash).toBe('');
    },
  );

  it.each(['token', 'id_token', 'code id_token', 'none', 'x'])(
    'the response type %s gets no code',
    async response_type => {
      const { location } = await browser.get(client.authorizeUrl({ response_type }));
      const answer = new URLSearchParams(location!.search || location!.hash.slice(1));
      expect(answer.get('error')).toMatch(/^(?:unsupported_response_type|invalid_request)$/);
      expect(answer.get('code') ?? answer.get('access_token')).toBeNull();
    },
  );

  it('a parameter that stands there twice goes back with an error, two doors at once too', async () => {
    const twice = `${client.authorizeUrl()}&state=another`;
    expect((await browser.get(twice)).location?.searchParams.get('error')).toBe('invalid_request');
    const doors = `&resource=${platform.operatorUrl}&resource=${platform.agentUrl('demo')}`;
    const both = await browser.get(client.authorizeUrl() + doors);
    expect(both.location?.searchParams.get('error')).toBe('invalid_target');
  });

  it('no state comes back without one, and with its issuer (attack 9)', async () => {
    const { location } = await decide(
      browser,
      await consentPage(browser, client.authorizeUrl({ state: undefined })),
    );
    expect([...location!.searchParams.keys()].toSorted()).toEqual(['code', 'iss']);
    expect(location?.searchParams.get('iss')).toBe(platform.url);
  });

  it('a sign-in that began in another browser goes on in none (attack 9)', async () => {
    const sent = await browser.get(client.authorizeUrl());
    const goesOn = sent.location!.searchParams.get('return_to')!;
    const other = await signedIn(platform);
    expect((await other.get(sent.location!.href)).status).toBe(410);
    expect((await other.get(goesOn)).status).toBe(400);
    const nobody = createBrowser(platform.url);
    expect((await nobody.get(goesOn)).status).toBe(400);
    await refused('other-browser');
    // Another one of the same browser takes its place, and neither passes for the other.
    const next = await browser.get(client.authorizeUrl({ state: 'next' }));
    expect((await browser.get(sent.location!.href)).status).toBe(410);
    const { location } = await decide(browser, await browser.follow(next));
    expect(location?.searchParams.get('state')).toBe('next');
  });
});

describe('the client that is there from the start (E-42, E-43)', () => {
  const shipped = (redirect: string) => clientOf(platform.url, 'patchbay-mcp', redirect);

  it.each([
    'http://localhost:1/',
    'http://127.0.0.1:65000/any/path',
    'http://[::1]:8080/cb?x=y',
    'http://localhost/cb',
  ])('comes back to %s', async redirect => {
    const page = await consentPage(browser, shipped(redirect).authorizeUrl());
    const { location } = await decide(browser, page);
    expect(location?.href.startsWith(redirect)).toBe(true);
    expect(location?.searchParams.get('code')).toBeTruthy();
  });

  it.each([
    'http://localhost.evil.test/',
    'http://localhost@evil.test/',
    'http://evil.test/localhost',
    'https://localhost/',
    'http://127.0.0.2/',
    'http://0.0.0.0/',
    'http://localhost:1\\@evil.test/',
    'http://localhost/#x',
    'http://user@localhost/',
    'http:localhost/',
    'http://ｌocalhost/',
    'http://localhost:99999/',
  ])('is sent to %s by nobody, and the refusal names redirect_uri', async redirect => {
    const answer = await browser.get(shipped(redirect).authorizeUrl());
    expect([answer.status, answer.location]).toEqual([400, undefined]);
    expect(answer.text).toContain('redirect_uri');
  });

  it('needs PKCE with S256, and the refusal names code_challenge_method', async () => {
    for (const parameters of [
      { code_challenge: undefined, code_challenge_method: undefined },
      { code_challenge_method: undefined },
      { code_challenge_method: 'plain' },
    ]) {
      const { location } = await browser.get(shipped('http://localhost:1/').authorizeUrl(parameters));
      expect(location?.searchParams.get('error_description')).toContain('code_challenge_method');
    }
  });

  it.each(['password', 'client_credentials', 'implicit', 'urn:ietf:params:oauth:grant-type:jwt-bearer', ''])(
    'gets nothing for the grant %j',
    async grant_type => {
      const { status, body } = await post(`${platform.url}/oauth/token`, {
        ...{ grant_type, client_id: 'patchbay-mcp', username: 'owner', password: 'x' },
        scope: 'openid',
      });
      expect([status, body.error]).toEqual([400, grant_type === '' ? body.error : 'unsupported_grant_type']);
    },
  );
});
