import { engines, openTestStore } from '@patchbay/testing/stores';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { NOW } from '../../packages/server/src/store/now.ts';
import { prepareInsert, prepareQuery } from '../../packages/server/src/store/prepared-query.ts';

describe.each(engines)('a prepared query on %s', engine => {
  it('is built once and runs with the values of each call', async () => {
    await using store = await openTestStore(engine);
    let builds = 0;
    const find = prepareQuery((db, wanted: { name: string; since: number }) => {
      builds += 1;
      return db
        .selectFrom('users')
        .select(['id', sql<number>`${NOW} - created_at`.as('age')])
        .where('name', '=', wanted.name)
        .where('created_at', '>=', wanted.since)
        .orderBy('id');
    });
    const insert = prepareInsert('users');
    const user = (id: string, name: string) => ({ id, name, roles: '[]', created_at: 10 });
    await store.commit(async db => {
      await insert(db, [user('a', 'ann'), user('b', 'bob')]);
      await insert(db, [user('c', 'ann')]);
      await insert(db, [user('d', 'o\'hara "d"'), user('e', 'ann')]);
      await insert(db, []);
    });
    const ids = async (name: string, since: number) =>
      (await find(store.db, { name, since })).map(({ id }) => id);
    expect(await ids('ann', 0)).toEqual(['a', 'c', 'e']);
    expect(await ids('bob', 0)).toEqual(['b']);
    expect(await ids('o\'hara "d"', 10)).toEqual(['d']);
    expect(await ids('ann', 11)).toEqual([]);
    expect(builds).toBe(1);
    const [first] = await find(store.db, { name: 'bob', since: 0 });
    expect(Math.abs(first!.age - (Date.now() - 10))).toBeLessThan(60_000);
  });
});
