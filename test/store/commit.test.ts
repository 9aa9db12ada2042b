import { setTimeout as sleep } from 'node:timers/promises';
import { engines, openTestStore } from '@patchbay/testing/stores';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Db } from '../../packages/server/src/store/store.ts';

const insert = (id: string) => async (db: Db) => {
  await db.insertInto('users').values({ id, name: id, roles: '[]', created_at: 0 }).execute();
};
const ids = async (db: Db) =>
  (await db.selectFrom('users').select('id').orderBy('id').execute()).map(row => row.id);
const rename = (db: Db, id: string) =>
  db.updateTable('users').set({ name: 'renamed' }).where('id', '=', id).execute();

describe.each(engines)('commit on %s', engine => {
  it('stores all of a unit or nothing of it', async () => {
    await using store = await openTestStore(engine);
    const failing = store.commit(async db => {
      await insert('a')(db);
      await insert('b')(db);
      throw new Error('on second thoughts');
    });
    await expect(failing).rejects.toThrow('on second thoughts');
    expect(await ids(store.db)).toEqual([]);
    await store.commit(async db => {
      await insert('a')(db);
      await insert('b')(db);
    });
    expect(await ids(store.db)).toEqual(['a', 'b']);
  });

  it('answers what the unit returns', async () => {
    await using store = await openTestStore(engine);
    expect(await store.commit(async () => 42)).toBe(42);
  });

  it('lets a failing unit among others fail alone', async () => {
    await using store = await openTestStore(engine);
    const wanted = ['a', 'b', 'c', 'd'];
    const results = await Promise.allSettled(
      wanted.map(id =>
        store.commit(async db => {
          await insert(id)(db);
          if (id === 'b') throw new Error('no');
        }),
      ),
    );
    expect(results.map(result => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(await ids(store.db)).toEqual(['a', 'c', 'd']);
  });

  it('loses no change when many units count at once', async () => {
    await using store = await openTestStore(engine);
    await store.commit(db =>
      db
        .insertInto('agents')
        .values({ id: 'a', owner_id: 'u', mcp_enabled: 0, created_at: 0, revision: 0 })
        .execute(),
    );
    const count = () =>
      store.commit(db =>
        db.updateTable('agents').set({ created_at: sql`created_at + 1` }).where('id', '=', 'a').execute(),
      );
    await Promise.all(Array.from({ length: 100 }, count));
    expect(await store.db.selectFrom('agents').select('created_at').executeTakeFirst()).toEqual({
      created_at: 100,
    });
  });

  it("refuses the store's own handle inside a unit, and a unit inside a unit, instead of waiting for ever", async () => {
    await using store = await openTestStore(engine);
    const outside = store.commit(() => ids(store.db));
    await expect(outside).rejects.toMatchObject({ code: 'store_used_inside_unit' });
    const raw = store.commit(() => sql`select 1`.execute(store.db));
    await expect(raw).rejects.toMatchObject({ code: 'store_used_inside_unit' });
    const nested = store.commit(() => store.commit(insert('a')));
    await expect(nested).rejects.toMatchObject({ code: 'store_used_inside_unit' });
    expect(await ids(store.db)).toEqual([]);
  });

  it('gives the handle back to what a unit has started and left behind', async () => {
    await using store = await openTestStore(engine);
    const left = await store.commit(async db => {
      await insert('a')(db);
      return { later: sleep(5).then(() => ids(store.db)) };
    });
    expect(await left.later).toEqual(['a']);
  });
});

describe('commit on postgres', () => {
  it('runs a unit again that was broken off for another one', async () => {
    await using store = await openTestStore('postgres');
    await store.commit(async db => {
      await insert('a')(db);
      await insert('b')(db);
    });
    const bothHoldOne = Promise.withResolvers<void>();
    let runs = 0;
    let holding = 0;
    const crossing = (first: string, second: string) =>
      store.commit(async db => {
        runs++;
        await rename(db, first);
        holding++;
        if (holding === 2) bothHoldOne.resolve();
        await bothHoldOne.promise;
        await rename(db, second);
      });
    await Promise.all([crossing('a', 'b'), crossing('b', 'a')]);
    // The server breaks off one of the two, or both.
    expect(runs).toBeGreaterThanOrEqual(3);
  });

  it('gives up after five attempts, and repeats nothing that failed for another reason', async () => {
    await using store = await openTestStore('postgres');
    const attempts = async (sqlState: string) => {
      let runs = 0;
      const unit = store.commit(async db => {
        runs++;
        await insert('a')(db);
        await sql
          .raw(`do $$ begin raise exception 'broken' using errcode = '${sqlState}'; end $$`)
          .execute(db);
      });
      await expect(unit).rejects.toThrow('broken');
      return runs;
    };
    expect(await attempts('40001')).toBe(5);
    expect(await attempts('23514')).toBe(1);
    expect(await ids(store.db)).toEqual([]);
  });
});

it('on SQLite waits for the disk unless all of a group may be lost', async () => {
  await using store = await openTestStore('sqlite');
  const wait = async (db: Db) => (await sql<{ synchronous: number }>`pragma synchronous`.execute(db)).rows[0];
  const [off, on] = [{ synchronous: 1 }, { synchronous: 2 }];
  expect(await store.commit(wait)).toEqual(on);
  expect(await store.commit(wait, { mayBeLost: true })).toEqual(off);
  const group = [store.commit(wait, { mayBeLost: true }), store.commit(wait)];
  expect(await Promise.all(group)).toEqual([on, on]);
});
