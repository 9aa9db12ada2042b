import { execFileSync } from 'node:child_process';
import { mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../store/migrations/migrations.ts';
import { openStore } from '../store/open-store.ts';
import { examineSqliteFile } from './sqlite-file.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'patchbay-doctor-'));
  file = join(folder, 'patchbay.db');
});
afterEach(() => rm(folder, { recursive: true }));

const examine = (now = Date.now()) => examineSqliteFile(file, () => now);
const run = (command: string) => execFileSync('sh', ['-c', command]);

/** A closed database with the tables of this version, then changed by somebody else. */
async function made(...statements: string[]): Promise<void> {
  await (await openStore({ kind: 'sqlite', file })).close();
  const database = new DatabaseSync(file);
  for (const statement of statements) database.exec(statement);
  database.close();
}

async function everyFile(): Promise<Record<string, unknown>> {
  const entries = (await readdir(folder)).map(async name => {
    const { mtimeMs, mode } = await stat(join(folder, name));
    return [name, { mtimeMs, mode, content: await readFile(join(folder, name), 'hex') }];
  });
  return Object.fromEntries(await Promise.all(entries));
}

describe('the database file', () => {
  it('may be missing or empty, and is not made by looking', async () => {
    expect((await examine()).remarks).toMatchObject([{ verdict: 'ok' }]);
    expect(await readdir(folder)).toEqual([]);
    await writeFile(file, '');
    expect((await examine()).remarks).toMatchObject([{ verdict: 'ok' }]);
  });

  it('is read as it lies there: nothing beside it, nothing in it, no time of it changes', async () => {
    await made();
    const before = await everyFile();
    const found = await examine();
    expect(found).toMatchObject({ remarks: [{ verdict: 'ok' }], contents: { agents: [], keys: [] } });
    expect(await everyFile()).toEqual(before);
  });

  it('is read beside a platform that has it open, with what it stored last', async () => {
    const store = await openStore({ kind: 'sqlite', file });
    await store.commit(db =>
      db.insertInto('users').values({ id: 'u', name: 'owner', roles: '[]', created_at: 1 }).execute(),
    );
    expect(await examine()).toMatchObject({ remarks: [{ verdict: 'ok' }], contents: { keys: [] } });
    await store.commit(db => db.deleteFrom('users').execute());
    await store.close();
  });

  it('that is something else is named, and putting it aside lets a start make a new one', async () => {
    await writeFile(file, 'dear diary, '.repeat(1_000));
    const [remark] = (await examine()).remarks;
    expect(remark).toMatchObject({ verdict: 'problem', says: expect.stringContaining('is no database') });
    run(remark!.mend!);
    expect((await examine()).remarks).toMatchObject([{ verdict: 'ok' }]);
    await made();
    expect((await examine()).remarks).toMatchObject([{ verdict: 'ok' }]);
  });

  it('that is damaged is named, and putting it aside lets a start make a new one', async () => {
    await made();
    const handle = await open(file, 'r+');
    const { size } = await handle.stat();
    // All but the first page, which alone makes it a database.
    await handle.write(Buffer.alloc(size - 4096, 0xa5), 0, size - 4096, 4096);
    await handle.close();
    const [remark] = (await examine()).remarks;
    expect(remark).toMatchObject({ verdict: 'problem', says: expect.stringContaining('is damaged') });
    run(remark!.mend!);
    await made();
    expect((await examine()).remarks).toMatchObject([{ verdict: 'ok' }]);
  });

  it('of another program is named, also when it has migrations of its own', async () => {
    for (const table of ['notes', 'migrations']) {
      const database = new DatabaseSync(file);
      database.exec(`create table ${table} (id integer, batch integer)`);
      database.close();
      const [remark] = (await examine()).remarks;
      expect(remark).toMatchObject({ verdict: 'problem', says: expect.stringContaining('another program') });
      run(remark!.mend!);
      expect((await examine()).remarks).toMatchObject([{ verdict: 'ok' }]);
    }
  });

  it('of a newer Patchbay is a problem that a newer program solves', async () => {
    await made(`insert into migrations values (${MIGRATIONS.length + 1}, 'from-the-future', 0)`);
    expect(await examine()).toMatchObject({
      remarks: [{ verdict: 'problem', mend: 'git pull && npm ci' }],
    });
  });

  it('of an older Patchbay is only read, never brought up to date', async () => {
    await made(`delete from migrations where number = ${MIGRATIONS.length}`);
    const before = await everyFile();
    const found = await examine();
    expect(found.contents).toBeUndefined();
    expect(found.remarks).toMatchObject([{ verdict: 'warning' }]);
    expect(await everyFile()).toEqual(before);
  });

  it('with times in the future says that a clock is wrong', async () => {
    await made();
    const inThePast = Date.now() - 3 * 3_600_000;
    expect((await examine(inThePast)).clock).toMatchObject([
      { verdict: 'warning', says: expect.stringContaining('3 hours in the future') },
    ]);
    expect((await examine()).clock).toEqual([]);
  });
});
