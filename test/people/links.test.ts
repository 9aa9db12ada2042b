import { createClient } from '@patchbay/contract/client';
import { startTestPlatform, type TestPlatform } from '@patchbay/testing/platform';
import { afterEach, describe, expect, it } from 'vitest';
import { dumpFolder, dumpTables, newCanary, placesWith } from '../canary.ts';
import { platforms } from '../doors/platforms.ts';
import { createJumpingClock } from '../jumping-clock.ts';
import { newVisitor, signIn } from './visitor.ts';

const MINUTE_MS = 60_000;
const NEXT = { next: 'seven brown lanterns', again: 'seven brown lanterns' };
const GONE = 'This link does not work any more';

let platform: TestPlatform;
afterEach(() => platform?.close());

const asOwner = () => createClient({ baseUrl: platform.url, token: platform.ownerToken, fetch });
/** Where a link leads on this platform. */
const pathOf = (link: string) => new URL(link).pathname;

describe.each(platforms)('a one-time link, on $kind', ({ start }) => {
  it('is not used up by who only looks at it, and signs in one of those who press its button', async () => {
    platform = await start();
    const { url } = await platform.platform.links.make(platform.platform.owner.id, 'sign-in');
    const path = pathOf(url);
    // Mail programs, chats and proxies look at addresses in several ways.
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'GET'])
      expect(
        (await fetch(platform.url + path, { method, redirect: 'manual' })).headers.getSetCookie().join(),
      ).not.toMatch(/patchbay=/);
    const visitors = Array.from({ length: 8 }, () => newVisitor(platform.url));
    for (const visitor of visitors) expect((await visitor.get(path)).text).toContain('signs you in as owner');
    const pressed = await Promise.all(visitors.map(visitor => visitor.send(path, {})));
    expect(pressed.map(({ status }) => status).toSorted()).toEqual([303, ...Array(7).fill(404)]);
    const [signedIn, ...others] = visitors.toSorted((a, b) => b.cookies.size - a.cookies.size);
    expect((await signedIn!.get('/account')).text).toContain('<dd>owner</dd>');
    for (const visitor of others) expect((await visitor.get('/account')).status).toBe(303);
    expect((await signedIn!.get(path)).text).toContain(GONE);
  });

  it('ends after ten minutes, or when a newer one takes its place', async () => {
    const clock = createJumpingClock();
    platform = await start({ overrides: { clock } });
    const { links, owner } = platform.platform;
    const visitor = newVisitor(platform.url);
    const older = pathOf((await links.make(owner.id, 'sign-in')).url);
    await visitor.get(older);
    const newer = pathOf((await links.make(owner.id, 'sign-in')).url);
    expect(await visitor.send(older, {})).toMatchObject({ status: 404 });
    clock.jump(10 * MINUTE_MS - 5_000);
    expect((await visitor.get(newer)).status).toBe(200);
    clock.jump(5_000);
    expect(await visitor.send(newer, {})).toMatchObject({ status: 404, text: expect.stringContaining(GONE) });
    expect(visitor.cookies.has('patchbay')).toBe(false);
  });

  it('does not sign in a person who was shut out or reset meanwhile', async () => {
    platform = await start();
    const { links, users } = platform.platform;
    const { id } = await users.add({ name: 'Anna', login: 'anna', roles: ['patchbay-viewer'] });
    for (const change of ['disable', 'enable', 'resetPassword'] as const) {
      const path = pathOf((await links.make(id, 'sign-in')).url);
      const visitor = newVisitor(platform.url);
      await visitor.get(path);
      await users[change](id);
      if (change === 'enable') continue;
      expect(await visitor.send(path, {})).toMatchObject({ status: 404 });
    }
  });
});

describe('a link to choose a password', () => {
  it('is good until a password was chosen that may be one, then signs in, and its person signs in with that', async () => {
    platform = await startTestPlatform();
    const added = await asOwner().call('create_user', {
      login: 'anna',
      name: 'Anna',
      roles: ['patchbay-user'],
    });
    const path = pathOf(added.link!);
    const visitor = newVisitor(platform.url);
    expect((await visitor.get(path)).text).toContain('Choose a password for Anna');
    for (const [next, again, said] of [
      ['short', 'short', 'needs 12 characters'],
      ['anna.anna.anna', 'anna.anna.anna', 'guessed soon'],
      [NEXT.next, `${NEXT.next}!`, 'differ'],
    ] as const) {
      expect(await visitor.send(path, { next, again })).toMatchObject({
        status: 422,
        text: expect.stringContaining(said),
      });
    }
    expect(visitor.cookies.has('patchbay')).toBe(false);
    expect(await visitor.send(path, NEXT)).toMatchObject({ status: 303, location: '/account' });
    expect((await visitor.get('/account')).text).toContain('<dd>patchbay-user</dd>');
    expect(await newVisitor(platform.url).get(path)).toMatchObject({ status: 404 });
    expect((await signIn(newVisitor(platform.url), 'Anna', NEXT.next)).status).toBe(303);
  });

  it('sets the password of one of those who use it at the same moment', async () => {
    platform = await startTestPlatform();
    const added = await asOwner().call('create_user', { login: 'anna', roles: ['patchbay-user'] });
    const path = pathOf(added.link!);
    const passwords = ['seven brown lanterns', 'eight green umbrellas', 'nine tired librarians'];
    const visitors = passwords.map(() => newVisitor(platform.url));
    for (const visitor of visitors) await visitor.get(path);
    const chosen = await Promise.all(
      visitors.map((visitor, at) => visitor.send(path, { next: passwords[at]!, again: passwords[at]! })),
    );
    expect(chosen.map(({ status }) => status).toSorted()).toEqual([303, 404, 404]);
    for (const [at, { status }] of chosen.entries()) {
      const signedIn = await signIn(newVisitor(platform.url), 'anna', passwords[at]!);
      expect(signedIn.status).toBe(status === 303 ? 303 : 401);
    }
  });

  it('of a reset signs the person out everywhere and takes the password before away', async () => {
    platform = await startTestPlatform();
    const client = asOwner();
    const { userId } = await client.call('create_user', {
      login: 'anna',
      roles: ['patchbay-user'],
      password: NEXT.next,
    });
    const there = newVisitor(platform.url);
    await signIn(there, 'anna', NEXT.next);
    const { link } = await client.call('reset_user_password', { userId });
    expect((await there.get('/account')).status).toBe(303);
    expect((await signIn(newVisitor(platform.url), 'anna', NEXT.next)).status).toBe(401);
    const visitor = newVisitor(platform.url);
    await visitor.get(pathOf(link));
    await visitor.send(pathOf(link), { next: 'eight green umbrellas', again: 'eight green umbrellas' });
    expect((await signIn(newVisitor(platform.url), 'anna', 'eight green umbrellas')).status).toBe(303);
  });

  it('is refused where no page of ours has sent the form (attack 8)', async () => {
    platform = await startTestPlatform();
    const added = await asOwner().call('create_user', { login: 'anna', roles: ['patchbay-user'] });
    const path = pathOf(added.link!);
    const visitor = newVisitor(platform.url);
    await visitor.get(path);
    for (const attack of [{ headers: { origin: 'https://evil.example' } }, { csrf: 'x' }])
      expect((await visitor.send(path, NEXT, attack)).status).toBe(403);
    expect((await visitor.send(path, NEXT)).status).toBe(303);
  });
});

describe('letting people in', () => {
  it('takes a person, and no key of anybody: a key that could would outlive its own end', async () => {
    platform = await startTestPlatform();
    const { userId } = await platform.addPerson(['patchbay-user']);
    const withKey = createClient({ baseUrl: platform.url, token: platform.operatorKey, fetch });
    const roles = ['patchbay-admin'] as const;
    for (const call of [
      () => withKey.call('create_user', { login: 'mallory', roles: [...roles] }),
      () => withKey.call('set_user_roles', { userId, roles: [...roles] }),
      () => withKey.call('reset_user_password', { userId }),
      () => withKey.call('enable_user', { userId }),
      () => withKey.call('create_sign_in_link', {}),
    ]) {
      await expect(call()).rejects.toMatchObject({
        status: 403,
        message: expect.stringMatching(/npx patchbay/),
      });
    }
    // Shutting out is what somebody does in a hurry, from wherever they are.
    expect(await withKey.call('disable_user', { userId })).toMatchObject({ disabled: true });
  });

  it('leaves the owner an admin who is let in', async () => {
    platform = await startTestPlatform();
    const { id: userId } = platform.platform.owner;
    const client = asOwner();
    await expect(client.call('disable_user', { userId })).rejects.toMatchObject({ status: 409 });
    await expect(client.call('set_user_roles', { userId, roles: ['patchbay-viewer'] })).rejects.toMatchObject(
      { status: 409 },
    );
    expect(
      await client.call('set_user_roles', { userId, roles: ['patchbay-viewer', 'patchbay-admin'] }),
    ).toMatchObject({ roles: ['patchbay-viewer', 'patchbay-admin'] });
  });

  it('keeps of passwords, links and sessions a hash and nothing else, and notes who was given which roles (attack 46)', async () => {
    platform = await startTestPlatform();
    const canary = newCanary();
    const client = asOwner();
    const anna = await client.call('create_user', {
      login: 'anna',
      roles: ['patchbay-user', 'patchbay-approver'],
      password: canary.value,
    });
    const visitor = newVisitor(platform.url);
    const shown = await signIn(visitor, 'anna', canary.value);
    expect(shown.status).toBe(303);
    const { link } = await client.call('create_sign_in_link', {});
    const { link: resetLink } = await client.call('reset_user_password', { userId: anna.userId });
    const { events } = await client.call('list_audit_events', { limit: 50 });
    expect(events).toContainEqual(
      expect.objectContaining({
        operation: 'create_user',
        subject: { userId: anna.userId, roles: 'patchbay-user,patchbay-approver' },
      }),
    );
    const places = {
      tables: await dumpTables(platform.platform.store),
      files: await dumpFolder(platform.dataDir),
      log: platform.logLines(),
      events,
      shown: [shown.text, ...shown.headers],
    };
    const token = (value: string) => ({ value, core: value });
    for (const secret of [canary, token(link.slice(-43)), token(resetLink.slice(-43))])
      expect(placesWith(secret, places)).toEqual([]);
    const cookie = token(visitor.cookies.get('patchbay')!);
    expect(placesWith(cookie, { ...places, shown: '' })).toEqual([]);
    expect(placesWith(cookie, places)).toEqual(['shown']);
  });
});
