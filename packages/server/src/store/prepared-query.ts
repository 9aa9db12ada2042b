import type { Compilable, CompiledQuery, RawBuilder } from 'kysely';
import type { Schema } from './schema.ts';
import type { Db, Engine } from './store.ts';

/** Stands in for a value while a query is built. */
class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const SLOTS: unknown = new Proxy({}, { get: (_, name) => new Slot(String(name)) });

/**
 * A query that is built once for each engine and run with other values each time: building costs several times what
 * running does, so the queries of every turn are kept. `values` has, while the query is built, a stand-in for every value;
 * each may only go where a parameter goes, and none may decide how the query looks.
 */
export function prepareQuery<Values extends object, Row>(
  build: (db: Db, values: Values, now: RawBuilder<number>) => Compilable<Row>,
): (db: Db, engine: Engine, values: Values) => Promise<Row[]> {
  const built = new Map<Engine['kind'], CompiledQuery<Row>>();
  return async (db, engine, values) => {
    let query = built.get(engine.kind);
    if (!query) {
      query = build(db, SLOTS as Values, engine.now()).compile();
      built.set(engine.kind, query);
    }
    const parameters = query.parameters.map(parameter =>
      parameter instanceof Slot ? (values as Record<string, unknown>)[parameter.name] : parameter,
    );
    return (await db.executeQuery<Row>({ ...query, parameters })).rows;
  };
}

/** An insert of whole rows, built once for each number of rows it is called with: let that number be small. */
export function prepareInsert<T extends keyof Schema>(
  table: T,
): (db: Db, engine: Engine, rows: readonly Schema[T][]) => Promise<void> {
  const built = new Map<string, CompiledQuery>();
  return async (db, engine, rows) => {
    const [first] = rows;
    if (first === undefined) return;
    const columns = Object.keys(first) as (string & keyof Schema[T])[];
    const shape = `${engine.kind} ${rows.length}`;
    let query = built.get(shape);
    if (!query) {
      const slots = Object.fromEntries(columns.map(column => [column, new Slot(column)]));
      // Typed as rows of some table; every cell is a parameter, row by row.
      query = db
        .insertInto(table as 'users')
        .values(rows.map(() => slots as never))
        .compile();
      built.set(shape, query);
    }
    const parameters = rows.flatMap(row => columns.map(column => row[column]));
    await db.executeQuery({ ...query, parameters });
  };
}
