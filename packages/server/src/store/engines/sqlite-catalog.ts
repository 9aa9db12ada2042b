import { sql } from 'kysely';
import { Fault } from '../../kernel/errors.ts';
import type { ColumnManifest, ForeignKeyManifest, IndexManifest, TableManifest } from '../manifest.ts';
import type { Db } from '../store.ts';

const KINDS: Readonly<Record<string, ColumnManifest['kind']>> = {
  INTEGER: 'int',
  REAL: 'real',
  TEXT: 'text',
  BLOB: 'bytes',
};

/** Reads the tables as they are in the file. Throws a `Fault` for a table or column outside the portable subset. */
export async function describeSqlite(db: Db): Promise<TableManifest[]> {
  const { rows } = await sql<{ name: string; strict: number }>`
    select name, strict from pragma_table_list
    where schema = 'main' and type = 'table' and name not like 'sqlite!_%' escape '!'`.execute(db);
  const tables: TableManifest[] = [];
  for (const { name, strict } of rows) {
    if (!strict) throw new Fault('schema_not_portable', `The table ${name} is not STRICT.`);
    tables.push({
      name,
      ...(await columnsOf(db, name)),
      foreignKeys: await foreignKeysOf(db, name),
      indexes: await indexesOf(db, name),
    });
  }
  return tables;
}

async function columnsOf(db: Db, table: string): Promise<Pick<TableManifest, 'columns' | 'primaryKey'>> {
  const { rows } = await sql<{ name: string; type: string; notnull: number; pk: number }>`
    select name, type, "notnull", pk from pragma_table_info(${table}) order by cid`.execute(db);
  const columns = rows.map(({ name, type, notnull }) => {
    const kind = KINDS[type.toUpperCase()];
    if (!kind) throw new Fault('schema_not_portable', `The column ${table}.${name} has the type ${type}.`);
    return { name, kind, nullable: notnull === 0 };
  });
  const keys = rows.filter(row => row.pk > 0).sort((a, b) => a.pk - b.pk);
  return { columns, primaryKey: keys.map(row => row.name) };
}

async function foreignKeysOf(db: Db, table: string): Promise<ForeignKeyManifest[]> {
  const { rows } = await sql<{
    id: number;
    table: string;
    from: string;
    to: string;
    on_delete: string;
  }>`select id, "table", "from", "to", on_delete from pragma_foreign_key_list(${table}) order by id, seq`.execute(
    db,
  );
  const keys = Map.groupBy(rows, row => row.id).values();
  return Array.from(keys, parts => ({
    columns: parts.map(part => part.from),
    table: parts[0]!.table,
    references: parts.map(part => part.to),
    onDelete: parts[0]!.on_delete.toLowerCase() as ForeignKeyManifest['onDelete'],
  }));
}

async function indexesOf(db: Db, table: string): Promise<IndexManifest[]> {
  // Origin c: made by CREATE INDEX. The others come with the primary key.
  const { rows } = await sql<{ name: string; unique: number; sql: string }>`
    select l.name, l."unique", m.sql from pragma_index_list(${table}) as l
    join sqlite_master as m on m.type = 'index' and m.name = l.name
    where l.origin = 'c'`.execute(db);
  return Promise.all(
    rows.map(async row => {
      const columns = await sql<{ name: string }>`
        select name from pragma_index_info(${row.name}) order by seqno`.execute(db);
      const where = /\swhere\s(.*)$/is.exec(row.sql)?.[1];
      return {
        name: row.name,
        columns: columns.rows.map(column => column.name),
        unique: row.unique === 1,
        ...(where !== undefined && { where }),
      };
    }),
  );
}
