import { AsyncLocalStorage } from 'node:async_hooks';
import type { KyselyPlugin } from 'kysely';
import { Fault } from '../kernel/errors.ts';
import type { PlatformEvent } from '../kernel/events.ts';
import type { Db } from './store.ts';

/** A unit while it runs; what it has started and left behind may use the store again afterwards. */
interface UnitScope {
  open: boolean;
  readonly db: Db;
  readonly events: PlatformEvent[];
}

const current = new AsyncLocalStorage<UnitScope>();

/** What a unit came to, and the news to tell when it is committed. */
export interface UnitResult<T> {
  readonly value: T;
  readonly events: readonly PlatformEvent[];
}

/** Runs a unit with its handle. */
export async function runUnit<T>(db: Db, unit: (db: Db) => Promise<T>): Promise<UnitResult<T>> {
  const scope: UnitScope = { open: true, db, events: [] };
  try {
    return { value: await current.run(scope, () => unit(db)), events: scope.events };
  } finally {
    scope.open = false;
  }
}

/** Where the running unit keeps its news. Throws when `db` is not the handle of a unit that runs here. */
export function eventsOfUnit(db: Db): PlatformEvent[] {
  const scope = current.getStore();
  if (scope?.open && scope.db === db) return scope.events;
  throw new Fault(
    'published_outside_unit',
    'News was published outside commit(): it leaves with the commit of a unit, through the handle of that unit.',
  );
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
