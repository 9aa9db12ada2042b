import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Browser } from './browser.ts';
import { refusedReasons } from './refused-reasons.ts';
import { CALLBACK, claimsOf, clientOf, consentPage, decide, signedIn } from './rig.ts';

const ADDRESS = 'https://editor.example/oauth/client.json';
const DOCUMENT = { client_id: ADDRESS, client_name: 'Documented', redirect_uris: [CALLBACK] };

let answer: () => Response | Promise<Response>;
let asked: { url: string; init: RequestInit | undefined }[];
let platform: TestPlatform;
let browser: Browser;
/** The library remembers documents: each test has an address of its own. */
let address: string;
let count = 0;
beforeAll(async () => {
  const fetchClientDocument = async (url: string | URL, init?: RequestInit) => {
    asked.push({ url: String(url), init });
    return answer();
  };
  platform = await startTestPlatform({ overrides: { fetchClientDocument } });
  browser = await signedIn(platform);
});
beforeEach(() => {
  asked = [];
  count += 1;
  address = `${ADDRESS}?${count}`;
});
afterAll(() => platform.close());

const describes = (members: object = {}) => {
  answer = () => Response.json({ ...DOCUMENT, client_id: address, ...members });
};
const refusedPage = async () => {
  const page = await browser.get(clientOf(platform.url, address).authorizeUrl());
  expect([page.location, page.status]).toEqual([undefined, 400]);
  return page.text;
};

describe('a client that a document describes (attack 13)', () => {
  it('is let in by a person, who is shown whose document it is', async () => {
    describes({ logo_uri: 'https://editor.example/logo.png', jwks_uri: 'http://169.254.169.254/' });
    const client = clientOf(platform.url, address);
    const page = await consentPage(browser, client.authorizeUrl());
    for (const shown of ['Documented', 'Described at', 'editor.example']) expect(page.text).toContain(shown);
    const { location } = await decide(browser, page);
    const { body } = await client.redeem(location!.searchParams.get('code')!);
    expect(claimsOf(body.access_token).client_id).toBe(address);
    expect((await client.refresh(body.refresh_token!)).status).toBe(200);
    expect(asked.map(({ url }) => url)).toEqual([address]);
    expect(asked[0]!.init).toMatchObject({ redirect: 'manual' });
  });

  it('is a public one where it would rather have a secret and can go without', async () => {
    describes({
      token_endpoint_auth_method: 'client_secret_post',
      token_endpoint_auth_methods_supported: ['none', 'client_secret_post'],
    });
    const client = clientOf(platform.url, address);
    const { location } = await decide(browser, await consentPage(browser, client.authorizeUrl()));
    expect((await client.redeem(location!.searchParams.get('code')!)).status).toBe(200);
  });

  it.each([
    ['that names another id', { client_id: ADDRESS }],
    ['without an id', { client_id: undefined }],
    ['of a client with a secret', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['of a client with a key', { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [] } }],
    ['without addresses to come back to', { redirect_uris: [] }],
    ['with an address that nobody may come back to', { redirect_uris: ['javascript:alert(1)'] }],
    ['with a name that turns the writing', { client_name: '\u202Etxet' }],
  ])('%s is none', async (_what, members) => {
    describes(members);
    await refusedPage();
  });

  it.each([
    [
      'a redirect',
      () => new Response(null, { status: 302, headers: { location: 'http://169.254.169.254/' } }),
    ],
    ['an error', () => new Response('x', { status: 500 })],
    ['no JSON', () => new Response('<html>')],
    ['JSON that names a member twice', () => new Response('{"client_id":"a","client_id":"b"}')],
    ['a list', () => Response.json([])],
    [
      'nothing, as its host cannot be reached or says too much',
      () => Promise.reject(new Error('secret detail of the network')),
    ],
  ])('whose address answers %s is none, and what came is not shown', async (_what, response) => {
    answer = response as () => Response;
    const text = await refusedPage();
    expect(text).not.toMatch(/169\.254|secret detail|<html>$/);
    expect(JSON.stringify(platform.logLines())).not.toContain('<html>');
    await expect.poll(() => refusedReasons(platform), { timeout: 2_000 }).not.toEqual([]);
  });

  it.each([
    'http://editor.example/client.json',
    'https://user@editor.example/client.json',
    'https://editor.example/a/../client.json',
    'https://editor.example/client.json#x',
    'https://editor.example\\@evil.test/',
    'ftp://editor.example/client.json',
    'https:/editor.example/client.json',
  ])('is not looked for at %s', async id => {
    describes();
    address = id;
    await refusedPage();
    expect(asked).toEqual([]);
  });

  it('that many ask for is fetched so often, and no more', async () => {
    const statuses: number[] = [];
    answer = () => new Response('x', { status: 404 });
    for (let at = 0; at < 40; at += 1) {
      const url = clientOf(platform.url, `${ADDRESS}?many=${at}`).authorizeUrl();
      statuses.push((await browser.get(url)).status);
    }
    expect(new Set(statuses)).toEqual(new Set([400]));
    expect(asked.length).toBeLessThanOrEqual(30);
  });
});

describe('documents at private addresses, or where they are switched off', () => {
  it.each([
    'https://127.0.0.1:7070/client.json',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/client.json',
    'https://localhost/client.json',
    'https://metadata.google.internal/x',
    'https://10.0.0.1/client.json',
  ])('%s describes nobody (attack 13)', async id => {
    const own = await startTestPlatform();
    try {
      const page = await (await signedIn(own)).get(clientOf(own.url, id).authorizeUrl());
      expect([page.status, page.location]).toEqual([400, undefined]);
    } finally {
      await own.close();
    }
  });

  it('are not fetched when they are switched off', async () => {
    asked = [];
    const fetchClientDocument = async () => Promise.reject(new Error('fetched'));
    const off = await startTestPlatform({
      env: { PATCHBAY_SIGN_IN_CLIENT_DOCUMENTS: 'false' },
      overrides: { fetchClientDocument },
    });
    try {
      const page = await (await signedIn(off)).get(clientOf(off.url, ADDRESS).authorizeUrl());
      expect([page.status, page.location]).toEqual([400, undefined]);
      expect(JSON.stringify(off.logLines())).not.toContain('fetched');
    } finally {
      await off.close();
    }
  });
});
