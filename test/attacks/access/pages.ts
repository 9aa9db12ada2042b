import { expect } from 'vitest';
import { newVisitor, signIn, type Visitor, visitorOf } from '../../people/visitor.ts';
import { type Attack, PASSWORD, type World } from './world.ts';

let people = 0;

/** Somebody with a password, who is signed in nowhere. */
async function newPerson({ platform }: World): Promise<{ readonly id: string; readonly login: string }> {
  people += 1;
  const login = `person${people}`;
  const { id } = await platform.platform.users.add({ name: login, login, password: PASSWORD, roles: [] });
  return { id, login };
}

async function signedIn(world: World): Promise<Visitor> {
  const { id } = await newPerson(world);
  return visitorOf(world.platform, id);
}

/** Somebody types a name and a password, and is signed in as nobody. */
function typed(
  name: string,
  reason: string,
  what: (world: World) => Promise<{ readonly login: string; readonly password: string }>,
  status = 401,
): Attack {
  return {
    ...{ name, refused: `page: ${reason}` },
    plan: async world => {
      const { login, password } = await what(world);
      const visitor = newVisitor(world.platform.url);
      return async () => {
        expect((await signIn(visitor, login, password)).status).toBe(status);
        expect(visitor.cookies.has('patchbay')).toBe(false);
      };
    },
  };
}

/** A form of somebody who is signed in, which no page of ours has sent. Signs nobody out. */
function forged(name: string, refused: string, attack: Parameters<Visitor['send']>[2]): Attack {
  return {
    ...{ name, refused },
    plan: async world => {
      const visitor = await signedIn(world);
      await visitor.get('/sign-out');
      return async () => {
        expect((await visitor.send('/sign-out', {}, attack)).status).toBe(403);
        expect((await visitor.get('/account')).status).toBe(200);
      };
    },
  };
}

/** A one-time link that opens nothing any more. */
function linked(
  name: string,
  purpose: 'sign-in' | 'password',
  spend: (world: World, path: string, person: { id: string; login: string }) => Promise<unknown>,
): Attack {
  return {
    ...{ name, refused: 'page: unknown-link' },
    plan: async world => {
      const person = await newPerson(world);
      const { platform } = world.platform;
      const { pathname } = new URL((await platform.links.make(person.id, purpose)).url);
      const visitor = newVisitor(world.platform.url);
      await visitor.get(pathname);
      await spend(world, pathname, person);
      return async () => {
        const fields = { next: 'another long password', again: 'another long password' };
        expect((await visitor.send(pathname, fields)).status).toBe(404);
        expect(visitor.cookies.has('patchbay')).toBe(false);
      };
    },
  };
}

/** What a browser comes back with from an authorization server that it did not leave for. */
function cameBack(name: string, reason: string, query: string): Attack {
  return {
    ...{ name, refused: `page: ${reason}` },
    plan: async world => {
      const visitor = reason === 'not-signed-in' ? newVisitor(world.platform.url) : await signedIn(world);
      return async () =>
        expect([400, 403]).toContain((await visitor.get(`/connect/callback${query}`)).status);
    },
  };
}

export const PAGE_ATTACKS: readonly Attack[] = [
  typed('with a wrong password (our own)', 'wrong-password', async world => ({
    ...{ login: (await newPerson(world)).login, password: 'not the password' },
  })),
  typed('with the name of nobody (attack 23)', 'unknown-account', async () => ({
    ...{ login: 'nobody-at-all', password: PASSWORD },
  })),
  typed('with the right password of an account that is locked (our own)', 'account-locked', async world => {
    const { login } = await newPerson(world);
    for (let wrong = 0; wrong < 5; wrong += 1) await signIn(newVisitor(world.platform.url), login, 'no');
    return { login, password: PASSWORD };
  }),
  typed(
    'with the right password of somebody who is disabled (attack 14)',
    'account-disabled',
    async world => {
      const { id, login } = await newPerson(world);
      await world.platform.platform.users.disable(id);
      return { login, password: PASSWORD };
    },
  ),
  typed('as somebody who has no password, with none (our own)', 'no-password', async world => {
    await world.platform.platform.users.add({ name: 'Links only', login: 'links', roles: [] });
    return { login: 'links', password: '' };
  }),
  typed('with an old password, when they have been reset (our own)', 'no-password', async world => {
    const { id, login } = await newPerson(world);
    await world.platform.platform.users.resetPassword(id);
    return { login, password: PASSWORD };
  }),
  {
    name: 'that signs a person in as somebody else: login CSRF (attack 8)',
    refused: 'page: bad-csrf',
    plan: async world => {
      const { login } = await newPerson(world);
      const visitor = newVisitor(world.platform.url);
      await visitor.get('/sign-in');
      return async () => {
        const shown = await visitor.send('/sign-in', { login, password: PASSWORD }, { csrf: 'x'.repeat(43) });
        expect([shown.status, visitor.cookies.has('patchbay')]).toEqual([403, false]);
      };
    },
  },
  forged('with a form from another site (attack 8)', 'any: foreign-origin', {
    headers: { origin: 'https://evil.example' },
  }),
  forged('with a form from a sandbox (attack 8)', 'any: foreign-origin', { headers: { origin: 'null' } }),
  forged('with a form from no page (attack 8)', 'page: foreign-page', { headers: { origin: undefined } }),
  forged('with a form that has no CSRF token (attack 8)', 'page: bad-csrf', { csrf: '' }),
  forged('with a form as JSON (our own)', 'page: not-a-form', {
    headers: { 'content-type': 'application/json' },
  }),
  forged('with a form as text (our own)', 'page: not-a-form', { headers: { 'content-type': 'text/plain' } }),
  {
    name: 'with the CSRF token of another person (attack 8)',
    refused: 'page: bad-csrf',
    plan: async world => {
      const [victim, mallory] = [await signedIn(world), await signedIn(world)];
      const csrf = /name="csrf" value="([\w-]+)"/.exec((await mallory.get('/account')).text)![1]!;
      await victim.get('/account');
      return async () => {
        expect((await victim.send('/account/credentials', { name: 'x' }, { csrf })).status).toBe(403);
      };
    },
  },
  {
    name: 'with a form that has no end (our own)',
    refused: 'page: not-a-form',
    plan: async world => {
      const visitor = await signedIn(world);
      await visitor.get('/sign-out');
      return async () => {
        expect((await visitor.send('/sign-out', { more: 'x'.repeat(70_000) })).status).toBe(403);
        expect((await visitor.get('/account')).status).toBe(200);
      };
    },
  },
  {
    name: 'where another password is chosen, by who sits at the browser only (our own)',
    refused: 'page: wrong-password',
    plan: async world => {
      const { id, login } = await newPerson(world);
      const visitor = await visitorOf(world.platform, id);
      await visitor.get('/account/password');
      const next = 'a password of mallory';
      return async () => {
        const fields = { current: 'guessed', next, again: next };
        expect((await visitor.send('/account/password', fields)).status).toBe(422);
        expect((await signIn(newVisitor(world.platform.url), login, next)).status).toBe(401);
      };
    },
  },
  linked('with a link that was used already (our own)', 'sign-in', async (world, path) => {
    const first = newVisitor(world.platform.url);
    await first.get(path);
    await first.send(path, {});
    expect(first.cookies.has('patchbay')).toBe(true);
  }),
  linked(
    'with a link to choose a password, when they have chosen one (our own)',
    'password',
    ({ platform }, _, { id }) => chooseAnother(platform, id),
  ),
  linked('with a link of somebody who is disabled by now (attack 14)', 'sign-in', ({ platform }, _, { id }) =>
    platform.platform.users.disable(id),
  ),
  {
    name: 'with a link that was made up (our own)',
    refused: 'page: unknown-link',
    plan: async world => {
      const visitor = newVisitor(world.platform.url);
      await visitor.get('/sign-in');
      const path = `/sign-in/link/${'a'.repeat(43)}`;
      return async () => expect((await visitor.send(path, {})).status).toBe(404);
    },
  },
  cameBack(
    'where one comes back with a state that was made up (attack 9)',
    'sign-in-unknown',
    '?state=made-up&code=x',
  ),
  cameBack('where one comes back without a state (attack 9)', 'sign-in-unknown', '?code=x'),
  cameBack('where one comes back who is not signed in (attack 9)', 'not-signed-in', '?state=made-up&code=x'),
  {
    name: 'where one signs in for a pause that there is not (our own)',
    refused: 'page: unknown-sign-in',
    plan: async world => {
      const visitor = await signedIn(world);
      return async () => expect((await visitor.get('/connect/pause_none')).status).toBe(404);
    },
  },
];

/** As they do with another link. */
async function chooseAnother({ url, platform }: World['platform'], userId: string): Promise<void> {
  const { pathname } = new URL((await platform.links.make(userId, 'password')).url);
  const visitor = newVisitor(url);
  await visitor.get(pathname);
  const next = 'eight green lanterns';
  await visitor.send(pathname, { next, again: next });
}
