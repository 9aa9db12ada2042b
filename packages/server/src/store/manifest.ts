import type { Store } from './store.ts';

/** One table in the form both engines are compared in. */
export interface TableManifest {
  readonly name: string;
  readonly columns: readonly ColumnManifest[];
  readonly primaryKey: readonly string[];
  readonly foreignKeys: readonly ForeignKeyManifest[];
  readonly indexes: readonly IndexManifest[];
}

export interface ColumnManifest {
  readonly name: string;
  readonly kind: 'int' | 'real' | 'text' | 'bytes';
  readonly nullable: boolean;
}

export interface ForeignKeyManifest {
  readonly columns: readonly string[];
  readonly table: string;
  readonly references: readonly string[];
  readonly onDelete: 'cascade' | 'no action';
}

export interface IndexManifest {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
  /** Condition of a partial index. */
  readonly where?: string;
}

/**
 * The live tables of a store in one normal form, the same for both engines: sorted by name, conditions without the
 * engine's own spelling. Throws a `Fault` for anything outside the portable subset.
 */
export async function readManifest(store: Store): Promise<TableManifest[]> {
  const tables = await store.engine.describe(store.db);
  return tables.sort(by(table => table.name)).map(table => ({
    ...table,
    foreignKeys: table.foreignKeys.toSorted(by(key => key.columns.join())),
    indexes: table.indexes
      .toSorted(by(index => index.name))
      .map(index => (index.where === undefined ? index : { ...index, where: plain(index.where) })),
  }));
}

/** As it is committed in `schema.generated.json`. */
export function formatManifest(tables: readonly TableManifest[]): string {
  return `${JSON.stringify({ tables }, null, 2)}\n`;
}

function by<T>(key: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
}

function plain(condition: string): string {
  return condition.replaceAll(/[()]/g, '').replaceAll(/\s+/g, ' ').trim().toLowerCase();
}
