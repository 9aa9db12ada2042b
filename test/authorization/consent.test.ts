import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listGrantsOf } from '../../packages/server/src/store/tables/grants.ts';
import { type Browser, createBrowser, hiddenFields } from './browser.ts';
import { refusedReasons } from './refused-reasons.ts';
import { claimsOf, codeFor, consentPage, decide, newClient, signedIn, type TestClient } from './rig.ts';

let platform: TestPlatform;
let browser: Browser;
let client: TestClient;
beforeAll(async () => {
  platform = await startTestPlatform();
  browser = await signedIn(platform);
  client = await newClient(platform);
});
afterAll(() => platform.close());

const owner = () => platform.platform.owner.id;
const grantsOf = (userId: string) =>
  listGrantsOf(platform.platform.store.db, { userId, now: Date.now(), limit: 1_000 });
const refused = (reason: string) =>
  expect.poll(() => refusedReasons(platform), { timeout: 2_000 }).toContain(reason);

describe('the page that asks a person', () => {
  it('is shown each time, also to a client that was let in a moment ago (attack 7)', async () => {
    await codeFor(browser, client.authorizeUrl());
    const again = await browser.get(client.authorizeUrl());
    expect(again.location?.pathname).toBe('/mcp-login');
    const page = await browser.follow(again);
    expect([page.status, page.location]).toEqual([200, undefined]);
    expect(page.text).toContain('An editor');
    const quiet = await browser.get(client.authorizeUrl({ prompt: 'none' }));
    expect(quiet.location?.searchParams.get('code')).toBeNull();
    expect(quiet.location?.searchParams.get('error')).toBe('consent_required');
  });

  it('sends who is not signed in to sign in first, and back (B-28)', async () => {
    const nobody = createBrowser(platform.url);
    const sent = await nobody.get((await nobody.get(client.authorizeUrl())).location!.href);
    expect(sent.location?.pathname).toBe('/sign-in');
    expect(sent.location?.searchParams.get('return_to')).toContain('/mcp-login?return_to=');
  });

  it('names the client as its own words, and where the browser goes back to above all (attack 12)', async () => {
    const name = '<script>alert(1)</script> Patchbay MCP & "friends"';
    const redirect = 'https://evil.example:8443/cb';
    const evil = await newClient(platform, {
      redirect,
      description: {
        client_name: name,
        client_uri: 'https://patchbay.example/',
        logo_uri: 'https://evil.example/logo.png',
        redirect_uris: [redirect],
      },
    });
    const { text } = await consentPage(browser, evil.authorizeUrl());
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt; Patchbay MCP &amp; &quot;friends&quot;');
    expect(text).toContain('Anybody can choose that name');
    expect(text).toContain('<strong>evil.example:8443</strong>');
    expect(text).not.toMatch(/<script|logo\.png|<img/);
  });

  it('is framed by nobody, kept nowhere, and its form leads to the client only (attack 8)', async () => {
    const { headers } = await consentPage(browser, client.authorizeUrl());
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("form-action 'self' http://127.0.0.1:33418;");
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['without its csrf', { csrf: '' }, {}, 'bad-csrf'],
    ['with another csrf', { csrf: 'A'.repeat(43) }, {}, 'bad-csrf'],
    ['without its proof', { proof: '' }, {}, 'bad-csrf'],
    ['from another site', {}, { origin: 'https://evil.example' }, undefined],
    ['from no page at all', {}, { origin: 'null' }, undefined],
  ])('allows nothing %s (attack 8)', async (_how, fields, headers, reason) => {
    const before = (await grantsOf(owner())).length;
    const page = await consentPage(browser, client.authorizeUrl());
    const answer = await browser.post(
      page.url,
      { ...hiddenFields(page), ...fields, decision: 'allow', agent: 'demo' },
      headers,
    );
    expect(answer.location).toBeUndefined();
    expect(await grantsOf(owner())).toHaveLength(before);
    if (reason !== undefined) await refused(reason);
  });

  it('fits one request, one person and one browser: its form allows no other (attack 8)', async () => {
    const before = (await grantsOf(owner())).length;
    const first = await consentPage(browser, client.authorizeUrl());
    const second = await consentPage(browser, client.authorizeUrl());
    const decision = { decision: 'allow', agent: 'demo' };
    const swapped = await browser.post(second.url, { ...hiddenFields(first), ...decision });
    expect(swapped.location).toBeUndefined();
    const person = await platform.addPerson(['patchbay-user']);
    const other = await signedIn(platform, person.userId);
    const stolen = await other.post(second.url, { ...hiddenFields(second), ...decision });
    expect([403, 410]).toContain(stolen.status);
    expect(await grantsOf(owner())).toHaveLength(before);
    expect(await grantsOf(person.userId)).toEqual([]);
  });

  it('loaded twice is the same page, and sent twice decides once (attack 8)', async () => {
    const before = (await grantsOf(owner())).length;
    const page = await consentPage(browser, client.authorizeUrl());
    const again = await browser.get(page.url);
    expect(hiddenFields(again)).toEqual(hiddenFields(page));
    const form = { ...hiddenFields(page), decision: 'allow', agent: 'demo' };
    const answers = await Promise.all([1, 2, 3].map(() => browser.post(again.url, form)));
    const places = new Set(answers.map(({ location }) => location?.pathname));
    expect([...places]).toEqual([expect.stringContaining('/oauth/authorize/')]);
    const loaded = await browser.get(page.url);
    expect(loaded.location?.href).toBe(answers[0]!.location!.href);
    const { location } = await browser.follow(answers[0]!);
    expect((await client.redeem(location!.searchParams.get('code')!)).status).toBe(200);
    expect(await grantsOf(owner())).toHaveLength(before + 1);
    // What was decided does not go on a second time.
    expect((await browser.get(answers[1]!.location!.href)).status).toBe(400);
    expect((await browser.post(page.url, form)).status).toBe(410);
  });

  it('gone on with twice at the same moment gives one code (attack 8)', async () => {
    const page = await consentPage(browser, client.authorizeUrl());
    const form = { ...hiddenFields(page), decision: 'allow', agent: 'demo' };
    const { location } = await browser.post(page.url, form);
    const ends = await Promise.all([1, 2, 3].map(() => browser.get(location!.href)));
    const codes = ends.flatMap(end => end.location?.searchParams.get('code') ?? []);
    expect(codes).toHaveLength(1);
  });

  it('denied goes back with access_denied, its state and its issuer, and allows nothing', async () => {
    const before = (await grantsOf(owner())).length;
    const page = await consentPage(browser, client.authorizeUrl());
    const { location } = await decide(browser, page, 'deny');
    expect(Object.fromEntries(location!.searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'a state, +unchanged/=&%',
      iss: platform.url,
    });
    expect(await grantsOf(owner())).toHaveLength(before);
  });
});

describe('the agents of a consent (B-13, B-28)', () => {
  const fieldsOf = (text: string) =>
    [...text.matchAll(/name="agent" value="([^"]+)"( checked)?/g)].map(([, id, checked]) => [
      id,
      checked !== undefined,
    ]);

  it('are those that the person may use and that are open to MCP clients, none of them chosen', async () => {
    const call = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch }).call;
    const person = await platform.addPerson(['patchbay-user']);
    const theirs = await signedIn(platform, person.userId);
    expect(fieldsOf((await consentPage(theirs, client.authorizeUrl())).text)).toEqual([]);
    await call('share_agent', { agentId: 'demo', with: `user:${person.userId}` });
    const page = await consentPage(theirs, client.authorizeUrl());
    expect(fieldsOf(page.text)).toEqual([['demo', false]]);
    const { location } = await decide(theirs, page);
    const { body } = await client.redeem(location!.searchParams.get('code')!);
    expect(claimsOf(body.access_token).sub).toBe(person.userId);
    await call('unshare_agent', { agentId: 'demo', with: `user:${person.userId}` });
    expect(fieldsOf((await consentPage(theirs, client.authorizeUrl())).text)).toEqual([]);
  });

  it('who has none can allow nothing, and is told so (B-35)', async () => {
    const { userId } = await platform.addPerson(['patchbay-user']);
    const theirs = await signedIn(platform, userId);
    const page = await consentPage(theirs, client.authorizeUrl());
    expect(page.text).toContain('You have no agent that is open to MCP clients');
    expect(page.text).not.toContain('value="allow"');
    const forged = await theirs.post(page.url, { ...hiddenFields(page), decision: 'allow', agent: 'demo' });
    expect(forged.status).toBe(422);
    expect(await grantsOf(userId)).toEqual([]);
    const { location } = await decide(theirs, page, 'deny');
    expect(location?.searchParams.get('error')).toBe('access_denied');
  });

  it('of a request for one agent are that one, chosen; its token is for that address alone', async () => {
    const page = await consentPage(browser, client.authorizeUrl({ resource: platform.agentUrl('demo') }));
    expect(fieldsOf(page.text)).toEqual([['demo', true]]);
    const { location } = await decide(browser, page);
    const { body } = await client.redeem(location!.searchParams.get('code')!);
    expect(claimsOf(body.access_token).aud).toBe(platform.agentUrl('demo'));
    const none = await consentPage(browser, client.authorizeUrl({ resource: platform.agentUrl('nobody') }));
    expect(none.text).toContain('&quot;nobody&quot;');
    expect(fieldsOf(none.text)).toEqual([]);
  });

  it.each([[[]], [['nobody']], [['demo', 'nobody']]])('chosen as %j allow nothing', async agents => {
    const page = await consentPage(browser, client.authorizeUrl());
    const answer = await decide(browser, page, 'allow', agents as string[]);
    expect([answer.status, answer.location]).toEqual([422, undefined]);
    expect(answer.text).toContain('Choose one agent at least');
  });

  it('are none at the operator door, whose page names the roles, or says that it only reads', async () => {
    const page = await consentPage(browser, client.authorizeUrl({ resource: platform.operatorUrl }));
    expect(page.text).toContain('patchbay-admin');
    expect(fieldsOf(page.text)).toEqual([]);
    const { location } = await decide(browser, page, 'allow', []);
    const { body } = await client.redeem(location!.searchParams.get('code')!);
    expect(claimsOf(body.access_token)).toMatchObject({ aud: platform.operatorUrl, scope: 'operator' });
    const scope = 'openid operator:read mcp:everything';
    const reads = await consentPage(browser, client.authorizeUrl({ resource: platform.operatorUrl, scope }));
    expect(reads.text).toContain('change nothing');
    const answer = await decide(browser, reads, 'allow', []);
    const read = await client.redeem(answer.location!.searchParams.get('code')!);
    expect(claimsOf(read.body.access_token).scope).toBe('operator:read');
    expect(read.body.id_token).toBeDefined();
  });
});
