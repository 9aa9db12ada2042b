import { readFile } from 'node:fs/promises';
import { engines, openTestStore } from '@patchbay/testing/stores';
import { sql } from 'kysely';
import { parseSync, type TSSignature, type TSType } from 'oxc-parser';
import { describe, expect, it } from 'vitest';
import {
  formatManifest,
  readManifest,
  type TableManifest,
} from '../../packages/server/src/store/manifest.ts';

const COMMITTED = new URL('../../packages/server/src/store/schema.generated.json', import.meta.url);

const SCHEMA_TS = new URL('../../packages/server/src/store/schema.ts', import.meta.url);

const KINDS: Readonly<Record<string, string>> = {
  TSNumberKeyword: 'int',
  TSStringKeyword: 'text',
  TSTypeReference: 'bytes',
};

/** The tables as `schema.ts` tells them to the compiler: name, column, kind, and whether it may be null. */
async function declaredColumns(): Promise<string[]> {
  const { program } = parseSync('schema.ts', await readFile(SCHEMA_TS, 'utf8'));
  const [statement] = program.body;
  if (
    statement?.type !== 'ExportNamedDeclaration' ||
    statement.declaration?.type !== 'TSInterfaceDeclaration'
  ) {
    throw new Error('schema.ts declares no interface');
  }
  return statement.declaration.body.body.flatMap(table => {
    const [tableName, columns] = property(table);
    if (columns.type !== 'TSTypeLiteral') throw new Error(`${tableName} is no table`);
    return columns.members.map(member => {
      const [column, type] = property(member);
      const parts = type.type === 'TSUnionType' ? type.types : [type];
      const [kind] = parts.flatMap(part => KINDS[part.type] ?? []);
      return `${tableName}.${column} ${kind}${parts.some(part => part.type === 'TSNullKeyword') ? ' nullable' : ''}`;
    });
  });
}

function property(signature: TSSignature): [name: string, type: TSType] {
  if (
    signature.type !== 'TSPropertySignature' ||
    signature.key.type !== 'Identifier' ||
    !signature.typeAnnotation
  ) {
    throw new Error('schema.ts holds something else than tables and columns');
  }
  return [signature.key.name, signature.typeAnnotation.typeAnnotation];
}

describe('schema.ts', () => {
  it('declares exactly the columns of the committed manifest', async () => {
    const { tables }: { tables: TableManifest[] } = JSON.parse(await readFile(COMMITTED, 'utf8'));
    const made = tables
      .filter(table => table.name !== 'migrations')
      .flatMap(table =>
        table.columns.map(
          column => `${table.name}.${column.name} ${column.kind}${column.nullable ? ' nullable' : ''}`,
        ),
      );
    expect((await declaredColumns()).sort()).toEqual(made.sort());
  });
});

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
