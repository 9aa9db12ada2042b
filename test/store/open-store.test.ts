import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '@patchbay/server/store/open-store';
import { engines, openTestStore } from '@patchbay/testing/stores';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { openPostgres } from '../../packages/server/src/store/engines/postgres.ts';
import { openSqlite } from '../../packages/server/src/store/engines/sqlite.ts';
import { foundation } from '../../packages/server/src/store/migrations/0001-foundation.ts';
import {
  MIGRATIONS,
  type Migration,
  migrate,
} from '../../packages/server/src/store/migrations/migrations.ts';
import { NOW } from '../../packages/server/src/store/now.ts';
import type { Db } from '../../packages/server/src/store/store.ts';

const applied = async (db: Db) =>
  (
    await sql<{ number: number; name: string }>`select number, name from migrations order by number`.execute(
      db,
    )
  ).rows;

describe.each(engines)('openStore on %s', engine => {
  it('finds what was stored before, and runs no migration twice', async () => {
    await using store = await openTestStore(engine);
    await store.commit(db =>
      db.insertInto('users').values({ id: 'u', name: 'Ágnes', roles: '[]', created_at: 1 }).execute(),
    );
    const before = await applied(store.db);
    expect(before.map(row => row.name)).toEqual(MIGRATIONS.map(migration => migration.name));
    const again = await openStore(store.options);
    expect(await again.db.selectFrom('users').select('name').execute()).toEqual([{ name: 'Ágnes' }]);
    expect(await applied(again.db)).toEqual(before);
    await again.close();
  });

  it('refuses a database that is newer than the program, in one sentence', async () => {
    await using store = await openTestStore(engine);
    await sql`insert into migrations (number, name, applied_at) values (1000, 'from-the-future', 0)`.execute(
      store.db,
    );
    await expect(openStore(store.options)).rejects.toMatchObject({
      name: 'PlatformError',
      message: `The database was made by a newer Patchbay (its migration 1000, this program knows ${MIGRATIONS.length}): start that version or a later one.`,
    });
  });

  it('stores nothing of a migration that fails', async () => {
    await using store = await openTestStore(engine);
    const halfDone: Migration = {
      name: 'half-done',
      async up(db, { int, tableEnd }) {
        await sql`create table half_done (x ${int} not null) ${tableEnd}`.execute(db);
        throw new Error('power cut');
      },
    };
    const { options } = store;
    const clock = { now: () => 0, sleep: async () => {} };
    const opened =
      options.kind === 'sqlite'
        ? openSqlite({ file: options.file, clock })
        : await openPostgres({ ...options, clock });
    try {
      await expect(migrate(opened, [...MIGRATIONS, halfDone])).rejects.toThrow('power cut');
    } finally {
      await opened.close();
    }
    expect(await applied(store.db)).toHaveLength(MIGRATIONS.length);
    await expect(sql`select * from half_done`.execute(store.db)).rejects.toThrow('half_done');
  });

  it('brings a database that has only the first migration up to date, and keeps what it holds', async () => {
    await using store = await openTestStore(engine);
    const { options } = store;
    const old =
      options.kind === 'sqlite'
        ? { ...options, file: `${options.file}.old` }
        : { ...options, schema: `${options.schema}_old` };
    const clock = { now: () => 0, sleep: async () => {} };
    const opened =
      old.kind === 'sqlite' ? openSqlite({ ...old, clock }) : await openPostgres({ ...old, clock });
    await migrate(opened, [foundation]);
    await opened.commit(db =>
      db.insertInto('users').values({ id: 'u', name: 'Ann', roles: '[]', created_at: 1 }).execute(),
    );
    await opened.close();
    const upgraded = await openStore(old);
    expect(await applied(upgraded.db)).toEqual(await applied(store.db));
    expect(await upgraded.db.selectFrom('users').select('name').execute()).toEqual([{ name: 'Ann' }]);
    if (old.kind === 'postgres') await upgraded.db.schema.dropSchema(old.schema!).cascade().execute();
    await upgraded.close();
  });

  it('gives the same values on both engines', async () => {
    await using store = await openTestStore(engine);
    await store.commit(async db => {
      await db
        .insertInto('server_secrets')
        .values({ name: 's', value: new Uint8Array([0, 1, 255]), created_at: Number.MAX_SAFE_INTEGER })
        .execute();
      for (const id of ['b', 'á', 'B', 'a', '_']) {
        await db.insertInto('users').values({ id, name: 'n', roles: '[]', created_at: 3 }).execute();
      }
    });
    const secret = await store.db.selectFrom('server_secrets').selectAll().executeTakeFirstOrThrow();
    expect(secret).toStrictEqual({
      name: 's',
      value: new Uint8Array([0, 1, 255]),
      created_at: Number.MAX_SAFE_INTEGER,
    });
    expect(Object.getPrototypeOf(secret)).toBe(Object.prototype);
    const users = await store.db.selectFrom('users').select('id').orderBy('id').execute();
    expect(users.map(user => user.id)).toEqual(['B', '_', 'a', 'b', 'á']);
    const { rows } =
      await sql`select count(*) as count, sum(created_at) as sum, max(id) = 'á' as last from users`.execute(
        store.db,
      );
    expect(rows).toStrictEqual([{ count: 5, sum: 15, last: 1 }]);
  });

  it('knows how many rows a change met', async () => {
    await using store = await openTestStore(engine);
    await store.commit(async db => {
      const values = ['a', 'b'].map(id => ({ id, name: 'n', roles: '[]', created_at: 3 }));
      await db.insertInto('users').values(values).execute();
      const updated = await db.updateTable('users').set({ name: 'm' }).executeTakeFirst();
      expect(updated.numUpdatedRows).toBe(2n);
      const deleted = await db.deleteFrom('users').where('id', '=', 'a').executeTakeFirst();
      expect(deleted.numDeletedRows).toBe(1n);
    });
  });

  it('keeps rows that belong to another together', async () => {
    await using store = await openTestStore(engine);
    const orphan = store.commit(db =>
      db
        .insertInto('document_versions')
        .values({ type: 'rules', id: 'r', version: 1, body: '{}', created_by: 'u', created_at: 0 })
        .execute(),
    );
    await expect(orphan).rejects.toThrow(/foreign key constraint/i);
  });

  it('compares leases with the time of the engine', async () => {
    await using store = await openTestStore(engine);
    const { rows } = await sql<{ now: number }>`select ${NOW} as now`.execute(store.db);
    expect(Math.abs(rows[0]!.now - Date.now())).toBeLessThan(60_000);
    expect(Number.isInteger(rows[0]!.now)).toBe(true);
  });
});

describe('openStore on sqlite', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchbay-open-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('waits for the disk at each commit, lets only its owner read, and leaves one file when closed', async () => {
    const file = join(folder, 'patchbay.db');
    const store = await openStore({ kind: 'sqlite', file });
    const pragma = async (name: string) =>
      (await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(store.db)).rows[0]![name];
    expect(await pragma('journal_mode')).toBe('wal');
    expect(await pragma('synchronous')).toBe(2);
    expect(await pragma('foreign_keys')).toBe(1);
    for (const name of await readdir(folder))
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    await store.close();
    expect(await readdir(folder)).toEqual(['patchbay.db']);
  });

  it('takes its time from the clock it is given', async () => {
    const clock = { now: () => 12_345, sleep: async () => {} };
    const store = await openStore({ kind: 'sqlite', file: ':memory:', clock });
    const { rows } = await sql`select ${NOW} as now`.execute(store.db);
    expect(rows).toEqual([{ now: 12_345 }]);
    await store.close();
  });

  it('says which file cannot be opened', async () => {
    const file = join(folder, 'notes.txt');
    await writeFile(file, 'not a database, but long enough to be taken for one. '.repeat(40));
    await expect(openStore({ kind: 'sqlite', file })).rejects.toThrow(
      `The database file ${file} cannot be opened`,
    );
  });
});

describe('openStore on postgres', () => {
  it('lets nodes that start at once make the tables once', async () => {
    await using store = await openTestStore('postgres');
    const { options } = store;
    if (options.kind !== 'postgres') throw new Error('not reached');
    const schema = `${options.schema}_nodes`;
    const nodes = await Promise.all(Array.from({ length: 4 }, () => openStore({ ...options, schema })));
    expect(await applied(nodes[0]!.db)).toHaveLength(MIGRATIONS.length);
    await nodes[0]!.db.schema.dropSchema(schema).cascade().execute();
    await Promise.all(nodes.map(node => node.close()));
  });

  it('refuses a database that does not store UTF-8', async () => {
    await using store = await openTestStore('postgres');
    await sql`create database ascii encoding 'SQL_ASCII' template template0`.execute(store.db);
    const url = new URL(inject('postgresUrl'));
    url.pathname = '/ascii';
    await expect(openStore({ kind: 'postgres', url: url.href })).rejects.toThrow(
      "has the encoding SQL_ASCII; make one with ENCODING 'UTF8'",
    );
    await sql`drop database ascii`.execute(store.db);
  });

  it('says when the server cannot be reached, without the password', async () => {
    const opening = openStore({ kind: 'postgres', url: 'postgres://someone:hunter2@127.0.0.1:9/none' });
    await expect(opening).rejects.toMatchObject({ name: 'PlatformError', kind: 'unavailable' });
    await expect(opening).rejects.toThrow('PATCHBAY_DATABASE_URL cannot be reached');
    await expect(opening).rejects.not.toThrow('hunter2');
  });

  it('refuses a schema name that would need quoting', async () => {
    const opening = openStore({ kind: 'postgres', url: inject('postgresUrl'), schema: 'a; drop' });
    await expect(opening).rejects.toThrow('schema "a; drop" must be');
  });
});
