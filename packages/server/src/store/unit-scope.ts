import { AsyncLocalStorage } from 'node:async_hooks';
import type { KyselyPlugin } from 'kysely';
import { Fault } from '../kernel/errors.ts';
import type { Db } from './store.ts';

/** Open while the unit runs; what a unit has started and left behind may use the store again afterwards. */
const current = new AsyncLocalStorage<{ open: boolean }>();

/** Runs a unit with its handle. */
export async function runUnit<T>(db: Db, unit: (db: Db) => Promise<T>): Promise<T> {
  const scope = { open: true };
  try {
    return await current.run(scope, () => unit(db));
  } finally {
    scope.open = false;
  }
}

/**
 * Throws when a unit is running here. The store's own handle inside a unit would wait for ever for the one connection on
 * SQLite, and silently leave the transaction on PostgreSQL; so would a unit inside a unit.
 */
export function refuseInsideUnit(what: string): void {
  if (current.getStore()?.open) {
    throw new Fault(
      'store_used_inside_unit',
      `${what} inside commit(): use the handle the unit was given, for every query.`,
    );
  }
}

/** Puts the refusal on every query of a handle. */
export const refusesInsideUnit: KyselyPlugin = {
  transformQuery({ node }) {
    refuseInsideUnit("The store's own handle was used");
    return node;
  },
  transformResult: async ({ result }) => result,
};
