import { publish } from '../events.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';

/** A value that configuration refers to by name. No secret. */
export interface VariableRecord {
  readonly name: string;
  readonly value: string;
  readonly description: string;
  /** Goes along when agents are exported. */
  readonly exportable: boolean;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly modifiedBy: string;
  readonly modifiedAt: number;
}

const COLUMNS = [
  'name',
  'value',
  'description',
  'exportable',
  'created_by',
  'created_at',
  'modified_by',
  'modified_at',
] as const;

export async function findVariable(db: Db, name: string): Promise<VariableRecord | undefined> {
  const row = await db.selectFrom('variables').select(COLUMNS).where('name', '=', name).executeTakeFirst();
  return row && toRecord(row);
}

/** By name; `after` begins behind that one. */
export async function listVariables(
  db: Db,
  options: { readonly after: string; readonly limit: number },
): Promise<VariableRecord[]> {
  const rows = await db
    .selectFrom('variables')
    .select(COLUMNS)
    .where('name', '>', options.after)
    .orderBy('name')
    .limit(options.limit)
    .execute();
  return rows.map(toRecord);
}

export async function countVariables(db: Db): Promise<number> {
  const row = await db
    .selectFrom('variables')
    .select(eb => eb.fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Inserts it, or replaces what is there of that name but for who made it when. */
export async function upsertVariable(db: Db, variable: VariableRecord): Promise<void> {
  const changing = {
    value: variable.value,
    description: variable.description,
    exportable: variable.exportable ? 1 : 0,
    modified_by: variable.modifiedBy,
    modified_at: variable.modifiedAt,
  };
  await db
    .insertInto('variables')
    .values({
      name: variable.name,
      ...changing,
      created_by: variable.createdBy,
      created_at: variable.createdAt,
    })
    .onConflict(conflict => conflict.column('name').doUpdateSet(changing))
    .execute();
  publish(db, { kind: 'variable-changed', name: variable.name });
}

/** False when there is none of that name; the news is told all the same, for whoever missed it. */
export async function deleteVariable(db: Db, name: string): Promise<boolean> {
  const row = await db.deleteFrom('variables').where('name', '=', name).returning('name').executeTakeFirst();
  publish(db, { kind: 'variable-changed', name });
  return row !== undefined;
}

function toRecord(row: Schema['variables']): VariableRecord {
  return {
    name: row.name,
    value: row.value,
    description: row.description,
    exportable: row.exportable === 1,
    createdBy: row.created_by,
    createdAt: row.created_at,
    modifiedBy: row.modified_by,
    modifiedAt: row.modified_at,
  };
}
