import { request } from 'node:http';
import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newVisitor, type Shown, signIn, type Visitor, visitorOf } from './visitor.ts';

const PASSWORD = 'seven brown lanterns';
const ALLOWED = 'https://dashboard.example';

let platform: TestPlatform;
beforeAll(async () => {
  // A page that an operator lets talk to the doors is no page of ours.
  platform = await startTestPlatform({ env: { PATCHBAY_ALLOWED_ORIGINS: ALLOWED } });
  const { users } = platform.platform;
  for (const login of ['anna', 'mallory'])
    await users.add({ name: login, login, password: PASSWORD, roles: ['patchbay-viewer'] });
});
afterAll(() => platform?.close());

async function signedIn(login = 'anna'): Promise<Visitor> {
  const [person] = await platform.platform.users.list({ login, limit: 1 });
  const visitor = await visitorOf(platform, person!.id);
  expect(visitor.cookies.has('patchbay')).toBe(true);
  return visitor;
}

/** The events of the audit trail that tell of refusals at pages, by reason. */
async function reasons(): Promise<Set<unknown>> {
  const client = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
  const { events } = await client.call('list_audit_events', { limit: 100 });
  return new Set(
    events
      .filter(({ operation, subject }) => operation === 'access_refused' && subject.door === 'page')
      .map(({ subject }) => subject.reason),
  );
}

describe('a form that no page of ours has sent (attack 8)', () => {
  const attacks: readonly [string, Parameters<Visitor['send']>[2], string, number][] = [
    ['from another site', { headers: { origin: 'https://evil.example' } }, 'foreign-origin', 403],
    ['from a page that may use the doors', { headers: { origin: ALLOWED } }, 'foreign-page', 403],
    [
      'from another port of this machine',
      { headers: { origin: 'http://127.0.0.1:1' } },
      'foreign-origin',
      403,
    ],
    ['from a sandbox', { headers: { origin: 'null' } }, 'foreign-origin', 403],
    ['without an origin', { headers: { origin: undefined } }, 'foreign-page', 403],
    ['without the token of the form', { csrf: '' }, 'bad-csrf', 403],
    ['with a made-up token', { csrf: 'x'.repeat(43) }, 'bad-csrf', 403],
    ['as text', { headers: { 'content-type': 'text/plain' } }, 'not-a-form', 403],
    ['as JSON', { headers: { 'content-type': 'application/json' } }, 'not-a-form', 403],
  ];

  it.each(attacks)('%s signs nobody out', async (_, attack, reason, status) => {
    const visitor = await signedIn();
    await visitor.get('/sign-out');
    const shown = await visitor.send('/sign-out', {}, attack);
    expect(shown.status).toBe(status);
    expect((await visitor.get('/account')).status).toBe(200);
    const noted = reason === 'foreign-origin' ? undefined : reason;
    if (noted) expect(await reasons()).toContain(noted);
  });

  it.each(attacks)(
    '%s signs nobody in: a person does not find themselves in the account of another (login CSRF)',
    async (_, attack, __, status) => {
      const visitor = newVisitor(platform.url);
      await visitor.get('/sign-in');
      const shown = await visitor.send('/sign-in', { login: 'mallory', password: PASSWORD }, attack);
      expect(shown.status).toBe(status);
      expect(visitor.cookies.has('patchbay')).toBe(false);
    },
  );

  it('with the token of another session, of the same person or another one, does nothing', async () => {
    const [victim, mallory, elsewhere] = [await signedIn(), await signedIn('mallory'), await signedIn()];
    for (const other of [mallory, elsewhere]) {
      const csrf = /name="csrf" value="([\w-]+)"/.exec((await other.get('/account')).text)![1]!;
      await victim.get('/account');
      expect((await victim.send('/sign-out', {}, { csrf })).status).toBe(403);
    }
    expect((await victim.get('/account')).status).toBe(200);
  });

  it('with a cookie that another page has planted beside ours does nothing', async () => {
    const visitor = await signedIn();
    await visitor.get('/account');
    const session = visitor.cookies.get('patchbay')!;
    const cookie = `patchbay=${session}; patchbay=${'p'.repeat(43)}`;
    expect((await visitor.send('/sign-out', {}, { headers: { cookie } })).location).toBe('/sign-out');
    expect((await visitor.get('/account')).status).toBe(200);
  });

  it('that is larger than any of ours is not read to its end', async () => {
    const visitor = await signedIn();
    await visitor.get('/sign-out');
    expect((await visitor.send('/sign-out', { more: 'x'.repeat(70_000) })).status).toBe(403);
    const many = Object.fromEntries(Array.from({ length: 1_100 }, (_, at) => [`f${at}`, '']));
    expect((await visitor.send('/sign-out', many)).status).toBe(403);
    expect((await visitor.get('/account')).status).toBe(200);
  });
});

describe('a page', () => {
  const paths = ['/sign-in', '/sign-out', '/account', '/account/password', '/sign-in/link/none'];

  it.each(paths)(
    '%s is kept nowhere, framed nowhere, runs nothing and loads nothing (attack 8)',
    async path => {
      const visitor = await signedIn();
      if (path === '/sign-in') visitor.cookies.delete('patchbay');
      const { headers, text } = await visitor.get(path);
      expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      const policy = headers.get('content-security-policy')!.split('; ');
      expect(policy).toEqual([
        "default-src 'none'",
        expect.stringMatching(/^style-src 'sha256-[\w+/=]{44}'$/),
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ]);
      expect(text).not.toMatch(/<script|<link|<img|\son\w+=|javascript:|style="/i);
    },
  );

  it.each(paths)('%s is not served to another Host (attack 35)', async path => {
    const visitor = await signedIn();
    const { port } = new URL(platform.url);
    const status = await statusFor(platform.url + path, `evil.example:${port}`, visitor.cookies);
    expect(status).toBe(403);
  });

  it.each(paths.slice(2, 4))(
    '%s shows nothing to who is not signed in, and knows where they wanted to go',
    async path => {
      const shown = await newVisitor(platform.url).get(`${path}?a=1&b=%2F`);
      expect(shown).toMatchObject({
        status: 303,
        location: `/sign-in?return_to=${encodeURIComponent(`${path}?a=1&b=%2F`)}`,
        text: '',
      });
    },
  );

  it('escapes what people call themselves', async () => {
    const name = `<b>"Bobby' & </title><script>alert(1)</script>`;
    await platform.platform.users.add({ name, login: 'bobby', password: PASSWORD, roles: [] });
    const { text } = await (await signedIn('bobby')).get('/account');
    expect(text).toContain('&lt;b&gt;&quot;Bobby&#39; &amp; &lt;/title&gt;&lt;script&gt;');
    expect(text).not.toContain('<script');
  });

  it('opens none of the doors with its cookie, from wherever it is sent', async () => {
    const visitor = await signedIn('anna');
    const cookie = `patchbay=${visitor.cookies.get('patchbay')}`;
    for (const path of ['/api/v1/api-keys', '/mcp', '/demo/mcp', '/metrics']) {
      const method = path.endsWith('/mcp') ? 'POST' : 'GET';
      const headers = { cookie, origin: platform.url, 'content-type': 'application/json' };
      const response = await fetch(platform.url + path, {
        method,
        headers,
        ...(method === 'POST' && { body: '{}' }),
      });
      expect(response.status, path).toBe(401);
    }
  });
});

describe('return_to', () => {
  const FOREIGN = [
    'https://evil.example/',
    '//evil.example/',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n//evil.example',
    '/..//evil.example',
    '/./\\evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'evil.example',
    '@evil.example',
    '',
    `/${'a'.repeat(5_000)}`,
    '/%0d%0aSet-Cookie:%20a=b'.replaceAll('%0d%0a', '\r\n'),
  ];

  it.each(FOREIGN)(
    '%j leads nowhere but to the account, before and after signing in (open redirect)',
    async returnTo => {
      const visitor = newVisitor(platform.url);
      const page = await visitor.get(`/sign-in?return_to=${encodeURIComponent(returnTo)}`);
      expect(page.text).toContain('name="return_to" value="/account"');
      const signedInThere = await signedIn();
      expect((await signedInThere.get(`/sign-in?return_to=${encodeURIComponent(returnTo)}`)).location).toBe(
        '/account',
      );
    },
  );

  it('of the form is looked at again', async () => {
    const visitor = newVisitor(platform.url);
    await visitor.get('/sign-in');
    const shown = await visitor.send('/sign-in', {
      login: 'anna',
      password: PASSWORD,
      return_to: 'https://evil.example',
    });
    expect(shown.location).toBe('/account');
  });

  it('leads to a path of ours with its query', async () => {
    const path = '/account/password?a=1&return_to=https%3A%2F%2Fevil.example#x';
    expect((await signIn(newVisitor(platform.url), 'mallory', PASSWORD, path)).location).toBe(path);
  });
});

describe('the audit trail', () => {
  it('has why somebody was refused at a page, and who signed in, and never what was typed', async () => {
    const shown: Shown = await signIn(newVisitor(platform.url), 'anna', 'not-her-password-canary');
    expect(shown.status).toBe(401);
    await signIn(newVisitor(platform.url), 'canary-name', 'not-her-password-canary');
    const client = createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
    const { events } = await client.call('list_audit_events', { limit: 100 });
    expect(await reasons()).toEqual(
      new Set(['foreign-page', 'bad-csrf', 'not-a-form', 'wrong-password', 'unknown-account']),
    );
    const [anna] = await platform.platform.users.list({ login: 'anna', limit: 1 });
    expect(events).toContainEqual(
      expect.objectContaining({ operation: 'sign_in', userId: anna!.id, via: 'session', outcome: 'done' }),
    );
    expect(JSON.stringify([events, platform.logLines()])).not.toContain('canary');
  });
});

/** `fetch` sends the Host of its address; this sends another one. */
async function statusFor(
  url: string,
  host: string,
  cookies: ReadonlyMap<string, string>,
): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  request(url, { headers: { host, cookie } }, response => {
    response.resume();
    resolve(response.statusCode);
  })
    .on('error', reject)
    .end();
  return promise;
}
