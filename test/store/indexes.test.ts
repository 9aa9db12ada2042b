import { openTestStore } from '@patchbay/testing/stores';
import { type CompiledQuery, sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Db, Store } from '../../packages/server/src/store/store.ts';
import {
  findOpenPause,
  listOpenPauses,
  listOpenSignIns,
} from '../../packages/server/src/store/tables/pauses.ts';

// What a database does often must not read a whole table, which small tables hide.

interface ForeignKeyColumn {
  readonly child: string;
  readonly key: number;
  readonly column: string;
}

/** Tables that a query reads from end to end. */
async function scannedBy(store: Store, query: (db: Db) => Promise<unknown>): Promise<readonly string[]> {
  const asked: CompiledQuery[] = [];
  const executor = store.db.getExecutor();
  const spied = store.db.withPlugin({
    transformQuery({ node, queryId }) {
      asked.push(executor.compileQuery(node, queryId));
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  await query(spied);
  expect(asked).toHaveLength(1);
  const { sql: text, parameters } = asked[0]!;
  const explained = { ...asked[0]!, sql: `explain query plan ${text}`, parameters };
  const { rows } = await store.db.executeQuery<{ detail: string }>(explained);
  return rows.map(({ detail }) => detail).filter(detail => /^SCAN (?!.*USING)/.test(detail));
}

describe('the indexes', () => {
  it('find what waits among all that ever waited', async () => {
    await using store = await openTestStore('sqlite');
    const kinds = ['RULE', 'TOOL_CALL'] as const;
    const all = { kinds, scope: { kind: 'all' }, limit: 10 } as const;
    const owned = { kinds, scope: { kind: 'owned', ownerId: 'x' }, limit: 10 } as const;
    const page = { after: { openedAt: 5, id: 'pause_x' }, limit: 10 };
    expect(await scannedBy(store, db => db.selectFrom('pauses').selectAll().execute())).toHaveLength(1);
    expect(await scannedBy(store, db => listOpenPauses(db, all))).toEqual([]);
    expect(await scannedBy(store, db => listOpenPauses(db, owned))).toEqual([]);
    expect(await scannedBy(store, db => findOpenPause(db, 'conv_x'))).toEqual([]);
    for (const userId of [undefined, 'usr_x'])
      expect(await scannedBy(store, db => listOpenSignIns(db, { userId, ...page }))).toEqual([]);
  });

  it('find the rows that go with a row that is deleted', async () => {
    await using store = await openTestStore('sqlite');
    const { rows } = await sql<ForeignKeyColumn>`
      select m.name as child, f.id as key, f."from" as "column"
      from sqlite_master m join pragma_foreign_key_list(m.name) f
      where m.type = 'table' order by child, key, f.seq`.execute(store.db);
    const keys = Map.groupBy(rows, ({ child, key }) => `${child} ${key}`);
    const scanned: string[] = [];
    for (const columns of keys.values()) {
      const { child } = columns[0]!;
      const named = columns.map(({ column }) => sql`${sql.ref(column)} = 'x'`);
      const plan = await sql<{ detail: string }>`
        explain query plan select 1 from ${sql.table(child)} where ${sql.join(named, sql` and `)}`.execute(
        store.db,
      );
      if (plan.rows.some(({ detail }) => detail.startsWith('SCAN')))
        scanned.push(`${child} (${columns.map(({ column }) => column).join(', ')})`);
    }
    expect(keys.size).toBeGreaterThan(10);
    expect(scanned).toEqual([]);
  });
});
