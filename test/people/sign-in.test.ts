import { createClient } from '@patchbay/contract/client';
import type { TestPlatform } from '@patchbay/testing/platform';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { platforms } from '../doors/platforms.ts';
import { createJumpingClock } from '../jumping-clock.ts';
import { newVisitor, signIn, type Visitor } from './visitor.ts';

const PASSWORD = 'seven brown lanterns';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WRONG = 'User name and password do not fit.';

/** Each person of a test has a login of their own: names are counted for a minute. */
let people = 0;

describe.each(platforms)('signing in with a password, on $kind', ({ start }) => {
  let shared: TestPlatform;
  /** That of all tests, or of one that needs another clock, another address or a minute of its own. */
  let platform: TestPlatform;
  beforeAll(async () => {
    shared = await start();
  });
  beforeEach(() => {
    platform = shared;
  });
  afterEach(async () => {
    if (platform !== shared) await platform.close();
  });
  afterAll(() => shared?.close());

  async function addPerson(): Promise<{ login: string; userId: string }> {
    people += 1;
    const login = `person${people}`;
    const { id } = await platform.platform.users.add({
      name: login,
      login,
      password: PASSWORD,
      roles: ['patchbay-viewer'],
    });
    return { login, userId: id };
  }

  const isSignedIn = async (visitor: Visitor) => (await visitor.get('/account')).status === 200;

  it('begins a session whose cookie is out of reach, and which is another one than any before (fixation)', async () => {
    const { login } = await addPerson();
    const visitor = newVisitor(platform.url);
    const planted = 'p'.repeat(43);
    visitor.cookies.set('patchbay', planted);
    const first = await signIn(visitor, login, PASSWORD);
    expect(first).toMatchObject({ status: 303, location: '/account' });
    expect(first.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^patchbay=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    const before = visitor.cookies.get('patchbay')!;
    expect(before).not.toBe(planted);

    // Signing in once more, also as the same person, ends what the browser had.
    const form = visitor.cookies.get('patchbay-form')!;
    visitor.cookies.delete('patchbay');
    await visitor.get('/sign-in');
    visitor.cookies.set('patchbay', before);
    await visitor.send('/sign-in', { login, password: PASSWORD });
    expect(visitor.cookies.get('patchbay')).not.toBe(before);
    expect(await isSignedIn(visitor)).toBe(true);
    const thief = newVisitor(platform.url);
    thief.cookies.set('patchbay', before).set('patchbay-form', form);
    expect(await isSignedIn(thief)).toBe(false);
  });

  it('keeps cookies to this host and to TLS behind an https address', async () => {
    platform = await start({ env: { PATCHBAY_PUBLIC_URL: 'https://patchbay.example' } });
    const { login } = await addPerson();
    const visitor = newVisitor(platform.url);
    await visitor.get('/sign-in');
    const shown = await visitor.send(
      '/sign-in',
      { login, password: PASSWORD },
      { headers: { origin: 'https://patchbay.example' } },
    );
    expect(shown.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-patchbay=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/),
    ]);
  });

  it('locks an account after five wrong passwords in a row, and says the same to everybody (attack 23)', async () => {
    const clock = createJumpingClock();
    platform = await start({ overrides: { clock } });
    const { login } = await addPerson();
    const visitor = newVisitor(platform.url);
    const unknown = await signIn(visitor, 'nobody', PASSWORD);
    expect(unknown.status).toBe(401);
    expect(unknown.text).toContain(WRONG);
    // All at once, or the fifth would be followed by as many as arrive before it is known to be wrong.
    const guesses = await Promise.all(
      Array.from({ length: 5 }, () => signIn(newVisitor(platform.url), login, 'not this one at all')),
    );
    const locked = await signIn(visitor, login, PASSWORD);
    const withoutWhatDiffers = (text: string) =>
      text
        .replace(/value="[^"]*"/g, '')
        .replaceAll(login, '')
        .replaceAll('nobody', '');
    for (const shown of [...guesses, locked]) {
      expect(shown.status).toBe(401);
      expect(withoutWhatDiffers(shown.text)).toBe(withoutWhatDiffers(unknown.text));
    }
    expect(await platform.platform.users.list({ login, limit: 1 })).toMatchObject([
      { lockedUntil: expect.any(Number) },
    ]);

    clock.jump(MINUTE_MS + 1);
    expect((await signIn(visitor, login, PASSWORD)).status).toBe(303);
  }, 60_000);

  it('takes ten tries a minute for one name, and has no hash computed for more', async () => {
    platform = await start();
    const visitor = newVisitor(platform.url);
    await visitor.get('/sign-in');
    const tries = Array.from({ length: 45 }, () => visitor.send('/sign-in', { login: 'one', password: 'x' }));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    const refused = statuses.filter(status => status === 429);
    // Each node counts by itself.
    expect(refused.length).toBeGreaterThanOrEqual(25);
    expect(statuses.filter(status => status === 401).length).toBeGreaterThanOrEqual(10);
  }, 60_000);

  it('signs out everywhere the browser went: the cookie is worth nothing on any node', async () => {
    const { login } = await addPerson();
    const visitor = newVisitor(platform.url);
    await signIn(visitor, login, PASSWORD);
    const stolen = visitor.cookies.get('patchbay')!;
    expect((await visitor.get('/sign-out')).status).toBe(200);
    expect(await isSignedIn(visitor)).toBe(true);
    await visitor.get('/account');
    const out = await visitor.send('/sign-out', {});
    expect(out).toMatchObject({ status: 303, location: '/sign-out' });
    expect(visitor.cookies.has('patchbay')).toBe(false);
    visitor.cookies.set('patchbay', stolen);
    expect([await isSignedIn(visitor), await isSignedIn(visitor)]).toEqual([false, false]);
  });

  it('ends a session after twelve quiet hours, and after a week in any case', async () => {
    const clock = createJumpingClock();
    platform = await start({ overrides: { clock } });
    const { login } = await addPerson();
    const visitor = newVisitor(platform.url);
    await signIn(visitor, login, PASSWORD);
    clock.jump(12 * HOUR_MS + 1);
    expect(await isSignedIn(visitor)).toBe(false);

    await signIn(visitor, login, PASSWORD);
    for (let passed = 0; passed < 7 * 24 - 11; passed += 11) {
      expect(await isSignedIn(visitor), `after ${passed} hours`).toBe(true);
      clock.jump(11 * HOUR_MS);
    }
    clock.jump(11 * HOUR_MS);
    expect(await isSignedIn(visitor)).toBe(false);
  });

  it.each(['disable', 'resetPassword'] as const)(
    'ends the sessions of a person at once, on all nodes, when an admin does %s (attack 14)',
    async change => {
      const { login, userId } = await addPerson();
      const visitor = newVisitor(platform.url);
      await signIn(visitor, login, PASSWORD);
      // Any node knows it.
      expect([await isSignedIn(visitor), await isSignedIn(visitor)]).toEqual([true, true]);
      await platform.platform.users[change](userId);
      expect([await isSignedIn(visitor), await isSignedIn(visitor)]).toEqual([false, false]);
      expect((await signIn(newVisitor(platform.url), login, PASSWORD)).status).toBe(401);
    },
  );

  it('shows the roles that a person has now, and ends their keys and sessions in one step when they are shut out (attack 14)', async () => {
    const { login, userId } = await addPerson();
    const visitor = newVisitor(platform.url);
    await signIn(visitor, login, PASSWORD);
    const { users, keys } = platform.platform;
    await users.setRoles(userId, ['patchbay-approver']);
    expect((await visitor.get('/account')).text).toContain('<dd>patchbay-approver</dd>');

    const { token } = await keys.createUserKey(userId, { name: 'k', scopes: ['operator'] });
    const client = createClient({ baseUrl: platform.url, token, fetch });
    await client.call('list_keys', {});
    await users.disable(userId);
    await expect(client.call('list_keys', {})).rejects.toMatchObject({ status: 401 });
    expect(await isSignedIn(visitor)).toBe(false);
    await users.enable(userId);
    await expect(client.call('list_keys', {})).rejects.toMatchObject({ status: 401 });
    expect(await isSignedIn(visitor)).toBe(false);
    expect((await signIn(visitor, login, PASSWORD)).status).toBe(303);
  });

  it('changes a password with the one before only, and signs out every other browser', async () => {
    const { login } = await addPerson();
    const [here, there] = [newVisitor(platform.url), newVisitor(platform.url)];
    for (const visitor of [here, there]) await signIn(visitor, login, PASSWORD);
    const before = here.cookies.get('patchbay');
    await here.get('/account/password');
    const next = 'eight green umbrellas';
    const change = (current: string, again = next) =>
      here.send('/account/password', { current, next, again });
    expect(await change('not mine at all')).toMatchObject({ status: 422 });
    expect(await change(PASSWORD, 'eight green umbrella')).toMatchObject({ status: 422 });
    expect(await change(PASSWORD)).toMatchObject({ status: 303, location: '/account?saved=password' });
    expect(here.cookies.get('patchbay')).not.toBe(before);
    expect([await isSignedIn(here), await isSignedIn(there)]).toEqual([true, false]);
    expect((await signIn(there, login, PASSWORD)).status).toBe(401);
    expect((await signIn(there, login, next)).status).toBe(303);
  });
});
