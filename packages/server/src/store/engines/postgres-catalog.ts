import { sql } from 'kysely';
import { Fault } from '../../kernel/errors.ts';
import type { ColumnManifest, ForeignKeyManifest, IndexManifest, TableManifest } from '../manifest.ts';
import type { Db } from '../store.ts';

/** By type and collation. */
const KINDS: Readonly<Record<string, ColumnManifest['kind']>> = {
  bigint: 'int',
  'double precision': 'real',
  'text C': 'text',
  bytea: 'bytes',
};

const ON_DELETE: Readonly<Record<string, ForeignKeyManifest['onDelete']>> = { a: 'no action', c: 'cascade' };

/** Reads the tables as they are in the schema in use. Throws a `Fault` for a column or key outside the portable subset. */
export async function describePostgres(db: Db): Promise<TableManifest[]> {
  const { rows } = await sql<{ oid: number; name: string }>`
    select oid, relname as name from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace`.execute(db);
  return Promise.all(
    rows.map(async ({ oid, name }) => ({
      name,
      columns: await columnsOf(db, oid, name),
      primaryKey: (await indexesOf(db, oid, true)).flatMap(key => key.columns),
      foreignKeys: await foreignKeysOf(db, oid, name),
      indexes: await indexesOf(db, oid, false),
    })),
  );
}

async function columnsOf(db: Db, oid: number, table: string): Promise<ColumnManifest[]> {
  const { rows } = await sql<{ name: string; type: string; collation: string | null; notnull: number }>`
    select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, c.collname as collation,
      a.attnotnull as notnull
    from pg_attribute a left join pg_collation c on c.oid = a.attcollation
    where a.attrelid = ${oid} and a.attnum > 0 and not a.attisdropped
    order by a.attnum`.execute(db);
  return rows.map(({ name, type, collation, notnull }) => {
    const described = collation === null ? type : `${type} ${collation}`;
    const kind = KINDS[described];
    if (!kind)
      throw new Fault('schema_not_portable', `The column ${table}.${name} has the type ${described}.`);
    return { name, kind, nullable: notnull === 0 };
  });
}

async function foreignKeysOf(db: Db, oid: number, table: string): Promise<ForeignKeyManifest[]> {
  const { rows } = await sql<{ columns: string; table: string; references: string; rule: string }>`
    select ${names(sql`c.conrelid`, sql`c.conkey`)} as columns, f.relname as table,
      ${names(sql`c.confrelid`, sql`c.confkey`)} as references, c.confdeltype as rule
    from pg_constraint c join pg_class f on f.oid = c.confrelid
    where c.conrelid = ${oid} and c.contype = 'f'`.execute(db);
  return rows.map(row => {
    const onDelete = ON_DELETE[row.rule];
    if (!onDelete)
      throw new Fault('schema_not_portable', `A foreign key of ${table} has the rule ${row.rule}.`);
    return {
      columns: JSON.parse(row.columns),
      table: row.table,
      references: JSON.parse(row.references),
      onDelete,
    };
  });
}

async function indexesOf(db: Db, oid: number, primary: boolean): Promise<IndexManifest[]> {
  const { rows } = await sql<{ name: string; columns: string; unique: number; where: string | null }>`
    select c.relname as name, ${names(sql`i.indrelid`, sql`i.indkey`)} as columns, i.indisunique as unique,
      pg_get_expr(i.indpred, i.indrelid) as where
    from pg_index i join pg_class c on c.oid = i.indexrelid
    where i.indrelid = ${oid} and i.indisprimary = ${primary}`.execute(db);
  return rows.map(row => ({
    name: row.name,
    columns: JSON.parse(row.columns),
    unique: row.unique === 1,
    ...(row.where !== null && { where: row.where }),
  }));
}

/** The names of a list of column numbers, in its order, as JSON text. */
function names(table: ReturnType<typeof sql>, numbers: ReturnType<typeof sql>) {
  return sql`(
    select json_agg(a.attname order by n.position)::text
    from unnest(${numbers}) with ordinality as n(attnum, position)
    join pg_attribute a on a.attrelid = ${table} and a.attnum = n.attnum
  )`;
}
