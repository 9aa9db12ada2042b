import { readFile } from 'node:fs/promises';
import { engines, openTestStore } from '@patchbay/testing/stores';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { formatManifest, readManifest } from '../../packages/server/src/store/manifest.ts';

const COMMITTED = new URL('../../packages/server/src/store/schema.generated.json', import.meta.url);

describe.each(engines)('the tables on %s', engine => {
  it('are exactly those of the committed manifest', async () => {
    await using store = await openTestStore(engine);
    expect(formatManifest(await readManifest(store))).toBe(await readFile(COMMITTED, 'utf8'));
  });

  it('differ from it when a column, an index or a key does', async () => {
    await using store = await openTestStore(engine);
    const committed = await readFile(COMMITTED, 'utf8');
    for (const change of [
      'alter table agents add column extra bigint_or_integer',
      'create unique index agents_extra on agents (extra)',
    ]) {
      const before = formatManifest(await readManifest(store));
      await sql
        .raw(change.replace('bigint_or_integer', engine === 'sqlite' ? 'integer' : 'bigint'))
        .execute(store.db);
      expect(formatManifest(await readManifest(store))).not.toBe(before);
    }
    expect(formatManifest(await readManifest(store))).not.toBe(committed);
  });

  it('refuse to be described when a column is outside the portable subset', async () => {
    await using store = await openTestStore(engine);
    await sql
      .raw(`create table odd (value ${engine === 'sqlite' ? 'any) strict' : 'text)'}`)
      .execute(store.db);
    await expect(readManifest(store)).rejects.toThrow('The column odd.value has the type');
  });
});
