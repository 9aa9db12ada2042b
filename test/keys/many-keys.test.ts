import type { Store } from '@patchbay/server/store/store';
import { engines, openTestStore } from '@patchbay/testing/stores';
import { expect, it } from 'vitest';
import { createDecide } from '../../packages/server/src/auth/access-rows.ts';
import { hashKeyToken } from '../../packages/server/src/auth/key/key-token.ts';
import { createKeys } from '../../packages/server/src/auth/key/keys.ts';
import { createLastUsed } from '../../packages/server/src/auth/key/last-used.ts';
import { createPasswords } from '../../packages/server/src/auth/user/passwords.ts';
import { createUsers } from '../../packages/server/src/auth/user/users.ts';
import { systemClock as clock } from '../../packages/server/src/kernel/clock.ts';
import { createLogger } from '../../packages/server/src/kernel/logger.ts';
import { granted, refused } from '../../packages/server/src/kernel/result.ts';

/** The store, and how often somebody asked the database for something outside a unit. */
function counted(store: Store) {
  const counter = { queries: 0 };
  const db = new Proxy(store.db, {
    get(target, name, receiver) {
      if (name === 'executeQuery') counter.queries += 1;
      const member = Reflect.get(target, name, receiver) as unknown;
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { store: { ...store, db }, counter };
}

it.each(engines)('200 keys in use at once are read once each, and no request writes, on %s', async engine => {
  await using opened = await openTestStore(engine);
  const { store, counter } = counted(opened);
  const users = createUsers({ store, clock, passwords: createPasswords() });
  const keys = createKeys({ store, clock, operatorKeys: true });
  const tokens: string[] = [];
  for (let number = 0; number < 200; number += 1) {
    const { id } = await users.add({ name: `person ${number}`, roles: ['patchbay-user'] });
    tokens.push((await keys.createUserKey(id, { name: 'x', scopes: ['agents'] })).token);
  }
  const decide = createDecide({ store, clock });
  const logger = createLogger({ level: 'error', format: 'json', destination: { write: () => {} }, clock });
  const lastUsed = createLastUsed({ store, clock, logger });
  const open = async (token: string) => {
    const outcome = await decide(async rows => {
      const key = await rows.key(hashKeyToken(token));
      return key ? granted(key) : refused({ reason: 'unknown-key' });
    });
    if (!outcome.ok) throw new Error(outcome.refusal.reason);
    lastUsed.note(outcome.value.id);
  };

  const before = counter.queries;
  for (const token of tokens) await open(token);
  expect(counter.queries - before).toBe(tokens.length);
  for (let round = 0; round < 5; round += 1) for (const token of tokens) await open(token);
  expect(counter.queries - before).toBe(tokens.length);

  const used = async () => {
    const rows = await opened.db
      .selectFrom('keys')
      .select('id')
      .where('last_used_at', 'is not', null)
      .execute();
    return rows.length;
  };
  expect(await used()).toBe(0);
  await lastUsed.close();
  expect(await used()).toBe(tokens.length);
});
