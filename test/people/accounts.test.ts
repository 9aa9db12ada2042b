import { engines, openTestStore, type TestStore } from '@patchbay/testing/stores';
import { describe, expect, it } from 'vitest';
import { createKeys } from '../../packages/server/src/auth/key/keys.ts';
import { createCookies } from '../../packages/server/src/auth/page/cookies.ts';
import { createPageSessions } from '../../packages/server/src/auth/page/page-sessions.ts';
import { createSignInLinks } from '../../packages/server/src/auth/page/sign-in-links.ts';
import { createAccounts } from '../../packages/server/src/auth/user/accounts.ts';
import { createPasswords } from '../../packages/server/src/auth/user/passwords.ts';
import { createUsers } from '../../packages/server/src/auth/user/users.ts';
import { findGrant, insertGrant, listGrantsOf } from '../../packages/server/src/store/tables/grants.ts';
import { createManualClock } from '../manual-clock.ts';

const PASSWORD = 'seven brown lanterns';
const MINUTE_MS = 60_000;

/** A platform's accounts, with work on hashes that is counted instead of done. */
async function startAccounts(store: TestStore) {
  let hashes = 0;
  const passwords = createPasswords(async (password, salt, bytes) => {
    hashes += 1;
    return Buffer.from(`${password}${Buffer.from(salt).toString('hex')}`.padEnd(bytes, '.'));
  });
  const clock = createManualClock();
  const users = createUsers({ store, clock, passwords });
  await users.ensureOwner();
  // The owner is who was there first.
  await clock.advance(1);
  const { id } = await users.add({ name: 'Anna', login: 'anna', password: PASSWORD, roles: [] });
  const accounts = createAccounts({ store, clock, passwords });
  /** `ok`, or why not; and how many hashes it took. */
  const tryToSignIn = async (login: string, password: string) => {
    const before = hashes;
    const outcome = await accounts.signIn(login, password);
    return [outcome.ok ? 'ok' : outcome.refusal.reason, hashes - before] as const;
  };
  return { accounts, users, clock, id, tryToSignIn };
}

describe.each(engines)('accounts on %s', engine => {
  it('cost one hash a try, whoever tries what: nobody finds out by the time it takes who is there (attack 23)', async () => {
    await using store = await openTestStore(engine);
    const { users, id, tryToSignIn } = await startAccounts(store);
    await users.add({ name: 'Bob', login: 'bob', roles: [] });
    expect(await tryToSignIn('anna', PASSWORD)).toEqual(['ok', 1]);
    expect(await tryToSignIn('  ANNA ', PASSWORD)).toEqual(['ok', 1]);
    expect(await tryToSignIn('anna', 'wrong')).toEqual(['wrong-password', 1]);
    expect(await tryToSignIn('anna', 'x'.repeat(5_000))).toEqual(['wrong-password', 1]);
    expect(await tryToSignIn('nobody', PASSWORD)).toEqual(['unknown-account', 1]);
    expect(await tryToSignIn('', '')).toEqual(['unknown-account', 1]);
    expect(await tryToSignIn('bob', '')).toEqual(['no-password', 1]);
    for (let wrong = 0; wrong < 4; wrong += 1) await tryToSignIn('anna', 'wrong');
    expect(await tryToSignIn('anna', PASSWORD)).toEqual(['account-locked', 1]);
    await users.disable(id);
    expect(await tryToSignIn('anna', PASSWORD)).toEqual(['account-disabled', 1]);
  });

  it('are locked by five wrong passwords in a row, twice as long after each further one, for fifteen minutes at most', async () => {
    await using store = await openTestStore(engine);
    const { clock, tryToSignIn } = await startAccounts(store);
    for (let wrong = 0; wrong < 5; wrong += 1)
      expect(await tryToSignIn('anna', 'wrong')).toEqual(['wrong-password', 1]);
    for (const minutes of [1, 2, 4, 8, 15, 15]) {
      expect(await tryToSignIn('anna', PASSWORD)).toEqual(['account-locked', 1]);
      await clock.advance(minutes * MINUTE_MS - 1);
      expect(await tryToSignIn('anna', 'wrong'), `before ${minutes}`).toEqual(['account-locked', 1]);
      await clock.advance(1);
      expect(await tryToSignIn('anna', 'wrong'), `after ${minutes}`).toEqual(['wrong-password', 1]);
    }
    await clock.advance(15 * MINUTE_MS);
    expect(await tryToSignIn('anna', PASSWORD)).toEqual(['ok', 1]);
    // The row is over: four more do no harm.
    for (let wrong = 0; wrong < 4; wrong += 1) await tryToSignIn('anna', 'wrong');
    expect(await tryToSignIn('anna', PASSWORD)).toEqual(['ok', 1]);
  });

  it('are tried five times and no more by guesses at the same moment', async () => {
    await using store = await openTestStore(engine);
    const { tryToSignIn } = await startAccounts(store);
    const guesses = await Promise.all(
      Array.from({ length: 40 }, (_, guess) => tryToSignIn('anna', `guess ${guess}`)),
    );
    expect(guesses.filter(([reason]) => reason === 'wrong-password')).toHaveLength(5);
  });

  it('are unlocked by a reset, which takes the password away, and what somebody may have allowed with it (our own)', async () => {
    await using store = await openTestStore(engine);
    const { accounts, users, clock, id, tryToSignIn } = await startAccounts(store);
    for (let wrong = 0; wrong < 5; wrong += 1) await tryToSignIn('anna', 'wrong');
    const now = clock.now();
    await store.commit(db =>
      insertGrant(db, {
        ...{ id: 'grant_1', userId: id, clientId: 'client_1', clientName: 'An editor', door: 'operator' },
        ...{
          agentIds: [],
          scope: 'operator',
          createdAt: now,
          expiresAt: now + MINUTE_MS,
          revokedAt: undefined,
        },
      }),
    );
    await users.resetPassword(id);
    expect(await findGrant(store.db, 'grant_1')).toMatchObject({ revokedAt: now });
    expect(await tryToSignIn('anna', PASSWORD)).toEqual(['no-password', 1]);
    expect(await accounts.choosePassword(id, 'short')).toMatchObject({ refusal: { reason: 'too-short' } });
    expect(await accounts.choosePassword(id, 'eight green umbrellas')).toMatchObject({ ok: true });
    expect(await tryToSignIn('anna', 'eight green umbrellas')).toEqual(['ok', 1]);
  });

  it('that are disabled have nothing left that opens anything, in one step that every node hears of (attack 14)', async () => {
    await using store = await openTestStore(engine);
    const { users, clock, id } = await startAccounts(store);
    const keys = createKeys({ store, clock, operatorKeys: true });
    await keys.createUserKey(id, { name: 'k', scopes: ['agents'] });
    const cookies = createCookies({ secure: false });
    const sessions = createPageSessions({ store, clock, cookies });
    const { setCookie } = await sessions.begin(id);
    const links = createSignInLinks({ store, clock, baseUrl: () => '' });
    const { url } = await links.make(id, 'password');
    for (let count = 0; count < 102; count += 1) {
      const grant = {
        id: `grant_${count}`,
        userId: id,
        clientId: 'c',
        clientName: 'C',
        door: 'operator' as const,
      };
      const rest = {
        agentIds: [],
        scope: '',
        createdAt: 1,
        expiresAt: clock.now() + 1,
        revokedAt: undefined,
      };
      await store.commit(db => insertGrant(db, { ...grant, ...rest }));
    }
    const heard: string[] = [];
    store.subscribe(event => heard.push(event.kind));

    expect(await users.disable(id)).toMatchObject({ disabled: true });
    expect(await keys.list(id)).toEqual([]);
    expect(await listGrantsOf(store.db, { userId: id, now: clock.now(), limit: 10 })).toEqual([]);
    expect(await sessions.read(setCookie.split(';')[0])).toBeUndefined();
    expect(await links.look(url.slice(-43))).toBeUndefined();
    expect(heard.filter(kind => kind === 'grant-changed')).toHaveLength(102);
    expect(heard).toEqual(expect.arrayContaining(['user-changed', 'key-changed']));

    expect(await users.enable(id)).toMatchObject({ disabled: false });
    expect(await keys.list(id)).toEqual([]);
    expect(await findGrant(store.db, 'grant_101')).toMatchObject({ revokedAt: clock.now() });
    expect(await sessions.read(setCookie.split(';')[0])).toBeUndefined();
  });

  it('have one login each, whoever comes first', async () => {
    await using store = await openTestStore(engine);
    const { users } = await startAccounts(store);
    const adding = await Promise.allSettled(
      Array.from({ length: 5 }, () => users.add({ name: 'C', login: 'carl', roles: [] })),
    );
    expect(adding.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await users.list({ limit: 10 })).toHaveLength(3);
  });
});
