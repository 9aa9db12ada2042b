import { AsyncLocalStorage } from 'node:async_hooks';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openStore } from '../open-store.ts';
import type { Db, Store } from '../store.ts';

let store: Store;
beforeEach(async () => {
  store = await openStore({ kind: 'sqlite', file: ':memory:' });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await store.close();
});

const insert = (id: string) => async (db: Db) => {
  await db.insertInto('users').values({ id, name: id, roles: '[]', created_at: 0 }).execute();
  return id;
};
const stored = async () =>
  (await store.db.selectFrom('users').select('id').orderBy('id').execute()).map(row => row.id);
const outcomes = (settled: PromiseSettledResult<unknown>[]) =>
  settled.map(result => (result.status === 'fulfilled' ? result.value : String(result.reason)));

describe('group commit', () => {
  it('stores units that wait together in one transaction', async () => {
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec');
    await Promise.all(['a', 'b', 'c'].map(id => store.commit(insert(id))));
    expect(exec.mock.calls.flat().filter(text => text === 'commit')).toHaveLength(1);
    expect(await stored()).toEqual(['a', 'b', 'c']);
  });

  it('lets others have a turn after 64 units', async () => {
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec');
    await Promise.all(Array.from({ length: 130 }, (_, i) => store.commit(insert(`u${i}`))));
    expect(exec.mock.calls.flat().filter(text => text === 'commit')).toHaveLength(3);
  });

  it('runs and answers them in the order they came, each seeing those before it', async () => {
    const ran: string[] = [];
    const answered: string[] = [];
    const unit = (id: string) =>
      store
        .commit(async db => {
          ran.push(id);
          await insert(id)(db);
          return (await db.selectFrom('users').select('id').execute()).length;
        })
        .then(count => answered.push(`${id}${count}`));
    await Promise.all(['c', 'a', 'b'].map(unit));
    expect(ran).toEqual(['c', 'a', 'b']);
    expect(answered).toEqual(['c1', 'a2', 'b3']);
  });

  it('undoes a failing unit alone, and answers nobody before the commit', async () => {
    const settled: string[] = [];
    const first = store.commit(insert('a')).then(() => settled.push('a'));
    const failing = store.commit(async db => {
      await insert('lost')(db);
      expect(settled).toEqual([]);
      throw new Error('no');
    });
    const constraint = store.commit(insert('a'));
    const last = store.commit(insert('b'));
    expect(outcomes(await Promise.allSettled([first, failing, constraint, last]))).toEqual([
      1,
      'Error: no',
      expect.stringContaining('UNIQUE constraint failed'),
      'b',
    ]);
    expect(await stored()).toEqual(['a', 'b']);
  });

  it('rejects all of them when the commit fails, stores none, and goes on', async () => {
    const breaksCommit = store.commit(async db => {
      await sql`pragma defer_foreign_keys = on`.execute(db);
      await db
        .insertInto('deployments')
        .values({
          environment: 'e',
          agent_id: 'nobody',
          agent_version: 1,
          status: 'READY',
          deployed_by: 'u',
          deployed_at: 0,
        })
        .execute();
    });
    const results = outcomes(
      await Promise.allSettled([store.commit(insert('a')), breaksCommit, store.commit(insert('b'))]),
    );
    expect(results).toEqual(Array(3).fill(expect.stringContaining('FOREIGN KEY constraint failed')));
    expect(await store.commit(insert('c'))).toBe('c');
    expect(await stored()).toEqual(['c']);
  });

  it('rejects all of them when SQLite gives the transaction up, and runs no further unit of it', async () => {
    const later = vi.fn(insert('b'));
    const results = await Promise.allSettled([
      store.commit(insert('a')),
      store.commit(db => sql`rollback`.execute(db)),
      store.commit(later),
    ]);
    expect(outcomes(results)).toEqual(
      Array(3).fill(expect.stringContaining('SQLite gave the transaction up')),
    );
    expect(later).not.toHaveBeenCalled();
    expect(await stored()).toEqual([]);
  });

  it('runs each unit in the context of who asked for it', async () => {
    const request = new AsyncLocalStorage<string>();
    const ask = (id: string) => request.run(id, () => store.commit(async () => request.getStore()));
    expect(await Promise.all([ask('a'), ask('b')])).toEqual(['a', 'b']);
  });

  it('finishes what waits before it closes', async () => {
    const other = await openStore({ kind: 'sqlite', file: ':memory:' });
    const unit = other.commit(insert('a'));
    await other.close();
    expect(await unit).toBe('a');
  });
});
