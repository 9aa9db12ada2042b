import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { type RealmUser, startTestRealm, type TestRealm } from '@patchbay/testing/realm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { dumpTables } from '../canary.ts';
import { rpc } from '../doors/wire.ts';
import { type Browser, createBrowser } from './browser.ts';
import { codeFor, newClient } from './rig.ts';

const anna: RealmUser = { subject: 'anna', roles: ['eddi-editor'], name: 'Anna' };

describe('signing in on our pages by an OpenID realm', () => {
  const undo = new AsyncDisposableStack();
  let realm: TestRealm;
  let platform: TestPlatform;
  let browser: Browser;

  beforeAll(async () => {
    realm = undo.use(await startTestRealm());
    platform = await startTestPlatform({
      env: {
        PATCHBAY_OIDC_ISSUER: realm.issuer,
        PATCHBAY_OIDC_CLIENT_ID: realm.client.id,
        PATCHBAY_OIDC_CLIENT_SECRET: realm.client.secret,
      },
    });
    undo.defer(() => platform.close());
  });
  afterAll(() => undo.disposeAsync());
  beforeEach(() => {
    browser = createBrowser(platform.url);
    realm.signsIn(anna);
  });

  const begin = (by = browser, returnTo = '/account') =>
    by.get(`${platform.url}/sign-in/realm?return_to=${encodeURIComponent(returnTo)}`);
  /** To the realm and back. */
  async function callback(by = browser, returnTo?: string): Promise<URL> {
    return realm.walk((await begin(by, returnTo)).location!.href);
  }
  async function signIn(by = browser): Promise<void> {
    const answer = await by.get((await callback(by)).href);
    expect([answer.status, answer.location?.pathname]).toEqual([303, '/account']);
  }
  const isSignedIn = async (by: Browser) => (await by.get(`${platform.url}/account`)).status === 200;
  const refusals = async () => {
    const owner = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
    const { events } = await owner.call('list_audit_events', { limit: 200 });
    return events.filter(({ subject }) => subject.door === 'page').map(({ subject }) => subject.reason);
  };

  it('is offered by the name of the realm, and leads back to where the person was going', async () => {
    const { text } = await browser.get(`${platform.url}/sign-in?return_to=%2Faccount%2Fpassword`);
    const { host } = new URL(realm.issuer);
    expect(text).toContain(
      `<a href="/sign-in/realm?return_to=%2Faccount%2Fpassword">Sign in with ${host}</a>`,
    );
    const back = await browser.get((await callback(browser, '/account/password')).href);
    expect(back.location?.href).toBe(`${platform.url}/account/password`);
    expect((await browser.get(`${platform.url}/account`)).text).toContain('Anna');
  });

  it('asks by code with PKCE, state and nonce, and keeps nothing of it that another browser could use', async () => {
    const { location, headers } = await begin();
    expect(Object.fromEntries(location!.searchParams)).toMatchObject({
      client_id: realm.client.id,
      response_type: 'code',
      redirect_uri: `${platform.url}/sign-in/realm/callback`,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]+\.[\w-]{43}$/),
    });
    const [cookie] = headers.getSetCookie();
    expect(cookie).toMatch(/^patchbay-realm=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const again = (await begin()).location!.searchParams;
    for (const name of ['nonce', 'state', 'code_challenge'])
      expect(again.get(name)).not.toBe(location!.searchParams.get(name));
  });

  it('is one person with who comes by a token, with the same roles (one-system.md 7)', async () => {
    await signIn();
    const token = await realm.token(anna, platform.operatorUrl);
    expect((await rpc(platform.operatorUrl, 'tools/list', {}, { key: token })).status).toBe(200);
    const owner = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
    const found = (await owner.call('list_users', { limit: 100 })).users.filter(
      ({ name }) => name === 'Anna',
    );
    expect(found).toEqual([expect.objectContaining({ roles: ['patchbay-editor'], hasPassword: false })]);
  });

  it('carries the consent for agents: one sign-on, and a token for the agent door', async () => {
    await signIn();
    const owner = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
    await owner.call('share_agent', { agentId: 'demo', with: 'everyone' });
    const client = await newClient(platform);
    const code = await codeFor(browser, client.authorizeUrl({ resource: platform.url, scope: 'agents' }));
    const { body } = await client.redeem(code, { resource: platform.url });
    const opened = await rpc(platform.agentUrl('demo'), 'tools/list', {}, { key: body.access_token });
    expect(opened.status).toBe(200);
  });

  it('leaves the operator door to the realm: no token of ours is issued for it, nor is it said', async () => {
    await signIn();
    const client = await newClient(platform);
    const asked = await browser.follow(
      await browser.get(client.authorizeUrl({ resource: platform.operatorUrl, scope: 'openid' })),
    );
    expect(asked.location?.searchParams.get('error')).toBe('invalid_target');
    const metadata = async (path: string) =>
      (await fetch(`${platform.url}/.well-known/oauth-authorization-server${path}`)).status;
    expect([await metadata('/mcp'), await metadata('/demo/mcp'), await metadata('')]).toEqual([
      404, 200, 200,
    ]);
  });

  it('takes no answer that another browser was meant to get (attack 9)', async () => {
    const attacker = createBrowser(platform.url);
    const planted = await callback(attacker);
    expect((await browser.get(planted.href)).status).toBe(400);
    await begin();
    expect((await browser.get(planted.href)).status).toBe(400);
    expect(await isSignedIn(browser)).toBe(false);
    await expect.poll(refusals).toContain('realm-state');
  });

  it.each([
    ['no state (attack 9)', (url: URL) => url.searchParams.delete('state')],
    ['another state (attack 9)', (url: URL) => url.searchParams.set('state', 'L2FjY291bnQ.x')],
    [
      'a state that leads elsewhere (attack 9)',
      (url: URL) => {
        const [, mac] = url.searchParams.get('state')!.split('.');
        url.searchParams.set('state', `${Buffer.from('https://evil.example').toString('base64url')}.${mac}`);
      },
    ],
    ['two states', (url: URL) => url.searchParams.append('state', 'x')],
    ['another issuer (attack 9)', (url: URL) => url.searchParams.set('iss', 'https://evil.example')],
    ['no issuer, where the realm always says it (attack 9)', (url: URL) => url.searchParams.delete('iss')],
    ['another code', (url: URL) => url.searchParams.set('code', 'x'.repeat(43))],
    ['no code', (url: URL) => url.searchParams.delete('code')],
    [
      'a refusal of the realm',
      (url: URL) => {
        url.searchParams.delete('code');
        url.searchParams.set('error', 'access_denied');
        url.searchParams.set('error_description', '<script>alert(1)</script>');
      },
    ],
  ])('takes no answer with %s', async (_name, change) => {
    const url = await callback();
    change(url);
    const answer = await browser.get(url.href);
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain('alert(1)');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('takes each answer once (attack 5)', async () => {
    const url = await callback();
    expect((await browser.get(url.href)).status).toBe(303);
    expect((await browser.get(url.href)).status).toBe(400);
  });

  it.each(['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)'])(
    'leads nowhere but to us: %s (attack 6)',
    async returnTo => {
      const answer = await browser.get((await callback(browser, returnTo)).href);
      expect(answer.location?.href).toBe(`${platform.url}/account`);
    },
  );

  it('lets nobody in who is shut out here', async () => {
    realm.signsIn({ subject: 'carol', roles: ['eddi-admin'], name: 'Carol' });
    await signIn();
    const owner = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
    const { users } = await owner.call('list_users', { limit: 100 });
    await owner.call('disable_user', { userId: users.find(({ name }) => name === 'Carol')!.userId });
    expect(await isSignedIn(browser)).toBe(false);
    expect((await browser.get((await callback()).href)).status).toBe(400);
    await expect.poll(refusals).toContain('account-disabled');
  });

  it('says so while the realm does not answer', async () => {
    const url = await callback();
    realm.setDown(true);
    try {
      const answer = await browser.get(url.href);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '60']);
    } finally {
      realm.setDown(false);
    }
  });

  it('leaves no code, secret or token anywhere (attack 46)', async () => {
    const url = await callback();
    await browser.get(url.href);
    const kept = JSON.stringify([platform.logLines(), await dumpTables(platform.platform.store)]);
    const code = url.searchParams.get('code')!;
    for (const secret of [code, realm.client.secret]) expect(kept).not.toContain(secret);
    expect(url.href).toContain(code);
  });
});

describe('without a client of the realm', () => {
  it('there is nothing to sign in by', async () => {
    const platform = await startTestPlatform();
    try {
      expect((await fetch(`${platform.url}/sign-in/realm`)).status).toBe(404);
      expect(await (await fetch(`${platform.url}/sign-in`)).text()).not.toContain('/sign-in/realm');
    } finally {
      await platform.close();
    }
  });
});
