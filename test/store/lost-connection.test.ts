import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '@patchbay/server/store/open-store';
import { newTestDatabase } from '@patchbay/testing/stores';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../packages/server/src/kernel/clock.ts';
import { openPostgres } from '../../packages/server/src/store/engines/postgres.ts';
import { publish } from '../../packages/server/src/store/events.ts';
import type { Db, Store } from '../../packages/server/src/store/store.ts';
import { startPostgresProxy } from './postgres-proxy.ts';

const unavailable = expect.objectContaining({ name: 'PlatformError', kind: 'unavailable' });

const insert = (id: string) => async (db: Db) => {
  await db.insertInto('users').values({ id, name: id, roles: '[]', created_at: 0 }).execute();
};
const ids = async (db: Db) =>
  (await db.selectFrom('users').select('id').orderBy('id').execute()).map(row => row.id);

async function open(url: string): Promise<Store & AsyncDisposable> {
  const store = await openStore({ kind: 'postgres', url });
  return { ...store, [Symbol.asyncDispose]: store.close };
}

/** As someone else who is connected to the database. */
async function elsewhere(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(statement);
  await client.end();
}

const END_ALL = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;

describe('when the server ends all connections', () => {
  it('what uses them fails as unavailable, and the store goes on', async () => {
    await using database = await newTestDatabase();
    await using store = await open(database.url);
    const ended = Promise.withResolvers<void>();
    const running = [
      ...Array.from({ length: 3 }, () => sql`select pg_sleep(20)`.execute(store.db)),
      ...Array.from({ length: 3 }, () => store.commit(db => sql`select pg_sleep(20)`.execute(db))),
      // Between two statements the connection is in use, and nothing waits for an answer on it.
      store.commit(async db => {
        await insert('lost')(db);
        await ended.promise;
        await insert('lost too')(db);
      }),
    ];
    const outcomes = Promise.allSettled(running);
    await sleep(200);
    await elsewhere(database.url, END_ALL);
    await sleep(50);
    ended.resolve();
    expect(await outcomes).toEqual(running.map(() => ({ status: 'rejected', reason: unavailable })));
    await store.commit(insert('kept'));
    expect(await ids(store.db)).toEqual(['kept']);
  });
});

describe('when the connection breaks after the server took the commit', () => {
  it('the caller is told that nobody knows, and what is remembered is looked up again', async () => {
    await using database = await newTestDatabase();
    await using proxy = await startPostgresProxy(database.url);
    await using store = await open(proxy.url);
    const heard: string[] = [];
    store.subscribe((event, origin) => heard.push([origin, ...Object.values(event)].join(' ')));
    proxy.cutsAtCommit = true;
    const lost = store.commit(async db => {
      await insert('stored')(db);
      publish(db, { kind: 'key-changed', keyId: 'k' });
    });
    await expect(lost).rejects.toEqual(unavailable);
    await expect(lost).rejects.toThrow('look whether it was');
    expect(heard).toContain('here resync');
    expect(await ids(store.db)).toEqual(['stored']);
  });

  it('its news counts when it comes later than the loss is seen', async () => {
    await using database = await newTestDatabase();
    await using proxy = await startPostgresProxy(database.url);
    await using store = await open(proxy.url);
    const heard: string[] = [];
    store.subscribe((event, origin) => heard.push([origin, ...Object.values(event)].join(' ')));
    // The server is made slow to commit: the constraint is looked at last.
    await elsewhere(
      database.url,
      `create function slowly() returns trigger language plpgsql as 'begin perform pg_sleep(0.5); return null; end';
       create constraint trigger slow after insert on users deferrable initially deferred
         for each row execute function slowly()`,
    );
    const lost = store.commit(async db => {
      await insert('stored')(db);
      publish(db, { kind: 'key-changed', keyId: 'k' });
    });
    await sleep(200);
    const { rows } = await sql<{ port: number }>`select client_port as port from pg_stat_activity
      where datname = current_database() and query = 'commit'`.execute(store.db);
    expect(rows).toHaveLength(1);
    proxy.cut(rows[0]!.port);
    await expect(lost).rejects.toEqual(unavailable);
    expect(heard).toEqual(['here resync']);
    await expect.poll(() => heard).toEqual(['here resync', 'here key-changed k']);
  });
});

describe('when the database goes silent', () => {
  const clock = systemClock;

  it('reads and commits fail as unavailable in time, and work again when it is back', async () => {
    await using database = await newTestDatabase();
    await (await open(database.url)).close();
    await using proxy = await startPostgresProxy(database.url);
    const store = await openPostgres({ url: proxy.url, clock, answerWithinMs: 300 });
    try {
      // Some connections that are there already.
      await Promise.all(Array.from({ length: 4 }, (_, i) => store.commit(insert(String(i)))));
      proxy.silent = true;
      const startedAt = performance.now();
      const outcomes = await Promise.allSettled([
        ids(store.db),
        store.commit(insert('lost')),
        store.commit(async db => {
          await insert('lost')(db);
        }),
      ]);
      expect(outcomes).toEqual(outcomes.map(() => ({ status: 'rejected', reason: unavailable })));
      expect(performance.now() - startedAt).toBeLessThan(2_000);
      proxy.silent = false;
      await store.commit(insert('kept'));
      expect(await ids(store.db)).toEqual(['0', '1', '2', '3', 'kept']);
    } finally {
      await store.close();
    }
  });

  it('a unit that is under way ends with the statement that hears nothing', async () => {
    await using database = await newTestDatabase();
    await (await open(database.url)).close();
    await using proxy = await startPostgresProxy(database.url);
    const store = await openPostgres({ url: proxy.url, clock, answerWithinMs: 300 });
    try {
      const startedAt = performance.now();
      const unit = store.commit(async db => {
        await insert('lost')(db);
        proxy.silent = true;
        await insert('lost too')(db);
      });
      await expect(unit).rejects.toEqual(unavailable);
      // One wait, not another one for the rollback.
      expect(performance.now() - startedAt).toBeLessThan(600);
      proxy.silent = false;
      expect(await ids(store.db)).toEqual([]);
    } finally {
      await store.close();
    }
  });

  it('waiting for another node and migrating may take longer', async () => {
    await using database = await newTestDatabase();
    const store = await openPostgres({ url: database.url, clock, answerWithinMs: 100 });
    try {
      const { rows } = await store.exclusively(db =>
        sql<{ done: number }>`select 1 as done from pg_sleep(0.4)`.execute(db),
      );
      expect(rows).toEqual([{ done: 1 }]);
      await expect(sql`select pg_sleep(0.4)`.execute(store.db)).rejects.toEqual(unavailable);
    } finally {
      await store.close();
    }
  });
});

describe('when a later version changes tables under a running node', () => {
  it('its queries go on, alone and in units, on every connection', async () => {
    await using database = await newTestDatabase();
    await using store = await open(database.url);
    await store.commit(insert('a'));
    // Prepared, and with a result that the new column belongs to.
    const read = (db: Db) => db.selectFrom('users').selectAll().where('id', '=', 'a').execute();
    const all = () =>
      Promise.all([
        ...Array.from({ length: 10 }, () => read(store.db)),
        ...Array.from({ length: 10 }, () =>
          store.commit(async db => {
            await sql`select pg_sleep(0.02)`.execute(db);
            return read(db);
          }),
        ),
      ]);
    await all();
    await elsewhere(database.url, "alter table users add column later text not null default 'x'");
    for (const rows of await all()) expect(rows).toMatchObject([{ id: 'a', later: 'x' }]);
  });
});
