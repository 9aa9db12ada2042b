import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { examineInstallation, type Finding } from '@patchbay/server/doctor';
import { openStore } from '@patchbay/server/store/open-store';
import { newTestDatabase } from '@patchbay/testing/stores';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'patchbay-doctor-'));
});
afterEach(() => rm(home, { recursive: true }));

/** What is said of the database and the clock. */
async function examine(url: string, now = Date.now): Promise<Finding[]> {
  const { findings } = await examineInstallation({
    env: { PATCHBAY_DATABASE_URL: url },
    home,
    cwd: home,
    osPlatform: 'linux',
    now,
  });
  return findings.filter(({ check }) => check === 'database' || check === 'clock');
}

async function sql(url: string, ...statements: string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A URL with other parts. */
function changed(
  url: string,
  parts: Partial<Pick<URL, 'port' | 'pathname' | 'username' | 'password'>>,
): string {
  return Object.assign(new URL(url), parts).href;
}

const FINE = [{ verdict: 'ok' }, { check: 'clock', verdict: 'ok' }];

describe('the doctor of a PostgreSQL server', () => {
  it('finds an empty database fine and leaves it empty, and one with our tables', async () => {
    await using database = await newTestDatabase();
    for (let i = 0; i < 2; i++) {
      const found = await examine(database.url);
      expect(found).toMatchObject(FINE);
      expect(found[0]!.says).toContain('is empty');
    }
    await (await openStore({ kind: 'postgres', url: database.url })).close();
    const found = await examine(database.url);
    expect(found).toMatchObject(FINE);
    expect(found[0]!.says).toContain('has the tables of this version');
  });

  it('tells a server that is not there from a database that is not there, which the command makes', async () => {
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    const server = inject('postgresUrl');
    const [absent] = await examine(changed(server, { port: '2', password: 'hunter2' }));
    expect(absent).toMatchObject({ verdict: 'problem' });
    expect(absent!.says).toContain('No PostgreSQL server listens at 127.0.0.1:2');
    const url = changed(server, { pathname: `/${name}` });
    const [missing] = await examine(changed(url, { password: 'hunter2' }));
    expect(missing!.mend).toBe(`createdb -h 127.0.0.1 -p ${new URL(url).port} -U patchbay ${name}`);
    await sql(server, `create database ${name}`);
    expect(await examine(url)).toMatchObject(FINE);
    await sql(server, `drop database ${name}`);
    expect(JSON.stringify([absent, missing])).not.toContain('hunter2');
  });

  it('says which user the server does not let in', async () => {
    const [finding] = await examine(changed(inject('postgresUrl'), { username: 'mallory' }));
    expect(finding).toMatchObject({
      verdict: 'problem',
      says: expect.stringContaining('not let mallory in'),
    });
  });

  it('lets a user make tables who may not, by the command', async () => {
    await using database = await newTestDatabase();
    const clerk = `clerk_${randomUUID().slice(0, 8)}`;
    await sql(database.url, `create role ${clerk} login`);
    const url = changed(database.url, { username: clerk });
    const [finding] = await examine(url);
    expect(finding).toMatchObject({
      verdict: 'problem',
      says: expect.stringContaining(`${clerk} may not make tables`),
    });
    const grant = /^psql .* -c '(.+)'$/.exec(finding!.mend!)![1]!;
    await sql(database.url, grant);
    expect(await examine(url)).toMatchObject(FINE);
    await sql(database.url, `drop owned by ${clerk}`, `drop role ${clerk}`);
  });

  it('refuses the tables of another program, and of a newer Patchbay, and names those of an older one', async () => {
    await using foreign = await newTestDatabase();
    await sql(foreign.url, 'create table migrations (id int, batch int)');
    expect(await examine(foreign.url)).toMatchObject([
      {
        verdict: 'problem',
        says: expect.stringContaining('another program'),
        mend: expect.stringMatching(/^createdb .* patchbay$/),
      },
      { check: 'clock', verdict: 'ok' },
    ]);
    await using ours = await newTestDatabase();
    await (await openStore({ kind: 'postgres', url: ours.url })).close();
    await sql(
      ours.url,
      `insert into migrations select max(number) + 1, 'from-the-future', 0 from migrations`,
    );
    expect((await examine(ours.url))[0]).toMatchObject({
      verdict: 'problem',
      mend: 'git pull && npm ci',
    });
    await sql(ours.url, 'delete from migrations where number >= (select max(number) - 1 from migrations)');
    expect((await examine(ours.url))[0]).toMatchObject({ verdict: 'warning', mend: 'npx patchbay up' });
  });

  it('refuses a database that can only be read, and one without UTF-8', async () => {
    await using database = await newTestDatabase();
    const name = new URL(database.url).pathname.slice(1);
    await sql(database.url, `alter database ${name} set default_transaction_read_only = on`);
    expect((await examine(database.url))[0]).toMatchObject({
      verdict: 'problem',
      says: expect.stringContaining('can only be read'),
    });
    const ascii = `${name}_ascii`;
    const server = inject('postgresUrl');
    await sql(server, `create database ${ascii} encoding 'SQL_ASCII' template template0`);
    expect((await examine(changed(server, { pathname: `/${ascii}` })))[0]).toMatchObject({
      verdict: 'problem',
      says: expect.stringContaining("ENCODING 'UTF8'"),
    });
    await sql(server, `drop database ${ascii}`);
  });

  it('says that a server is far away', async () => {
    await using database = await newTestDatabase();
    const target = Number(new URL(database.url).port);
    const farAway = createServer(near => {
      const far = connect(target, '127.0.0.1');
      near.on('data', bytes => setTimeout(() => far.write(bytes), 40));
      far.on('data', bytes => near.write(bytes));
      near.on('close', () => far.destroy());
      far.on('close', () => near.destroy());
      for (const socket of [near, far]) socket.on('error', () => {});
    }).listen(0, '127.0.0.1');
    await once(farAway, 'listening');
    const { port } = farAway.address() as AddressInfo;
    const [finding] = await examine(changed(database.url, { port: String(port) }));
    expect(finding).toMatchObject({ verdict: 'warning', says: expect.stringMatching(/takes [4-9]\d ms/) });
    await new Promise(resolve => farAway.close(resolve));
  });

  it('says that the clocks differ', async () => {
    await using database = await newTestDatabase();
    const found = await examine(database.url, () => Date.now() - 600_000);
    expect(found.find(({ check }) => check === 'clock')).toMatchObject({
      verdict: 'warning',
      says: expect.stringContaining('10 minutes behind'),
    });
  });
});
