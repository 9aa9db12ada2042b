import type { Compilable, CompiledQuery } from 'kysely';
import type { Schema } from './schema.ts';
import type { Db } from './store.ts';

/** Stands in for a value while a query is built. */
class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const SLOTS: unknown = new Proxy({}, { get: (_, name) => new Slot(String(name)) });

/**
 * A query that is built once for each store and run with other values each time: building costs several times what
 * running does, so the queries of every turn are kept. `values` has, while the query is built, a stand-in for every value;
 * each may only go where a parameter goes, and none may decide how the query looks.
 */
export function prepareQuery<Values extends object, Row>(
  build: (db: Db, values: Values) => Compilable<Row>,
): (db: Db, values: Values) => Promise<Row[]> {
  const built = keptByStore<CompiledQuery<Row>>();
  return async (db, values) => {
    const query = built(db, '', () => build(db, SLOTS as Values).compile());
    const parameters = query.parameters.map(parameter =>
      parameter instanceof Slot ? (values as Record<string, unknown>)[parameter.name] : parameter,
    );
    return (await db.executeQuery<Row>({ ...query, parameters })).rows;
  };
}

/** An insert of whole rows, built once for each number of rows it is called with: let that number be small. */
export function prepareInsert<T extends keyof Schema>(
  table: T,
): (db: Db, rows: readonly Schema[T][]) => Promise<void> {
  const built = keptByStore<CompiledQuery>();
  return async (db, rows) => {
    const [first] = rows;
    if (first === undefined) return;
    const columns = Object.keys(first) as (string & keyof Schema[T])[];
    const query = built(db, String(rows.length), () => {
      const slots = Object.fromEntries(columns.map(column => [column, new Slot(column)]));
      // Typed as rows of some table; every cell is a parameter, row by row.
      return db
        .insertInto(table as 'users')
        .values(rows.map(() => slots as never))
        .compile();
    });
    const parameters = rows.flatMap(row => columns.map(column => row[column]));
    await db.executeQuery({ ...query, parameters });
  };
}

/** What was made for a store and a shape of query. A store and its transactions have the dialect's adapter in common. */
function keptByStore<T>(): (db: Db, shape: string, make: () => T) => T {
  const kept = new WeakMap<object, Map<string, T>>();
  return (db, shape, make) => {
    const { adapter } = db.getExecutor();
    let shapes = kept.get(adapter);
    if (!shapes) {
      shapes = new Map();
      kept.set(adapter, shapes);
    }
    let found = shapes.get(shape);
    if (found === undefined) {
      found = make();
      shapes.set(shape, found);
    }
    return found;
  };
}
