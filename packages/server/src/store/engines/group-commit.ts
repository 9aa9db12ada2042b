import { AsyncLocalStorage } from 'node:async_hooks';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers';
import { Fault } from '../../kernel/errors.ts';
import type { PlatformEvent } from '../../kernel/events.ts';
import type { Db, Store } from '../store.ts';
import { refuseInsideUnit, runUnit, type UnitResult } from '../unit-scope.ts';

/** Units that share one transaction at the most: SQLite runs on the main thread, and others want a turn between two groups. */
const MAX_GROUP = 64;

interface Waiting {
  readonly mayBeLost: boolean;
  readonly run: (db: Db) => Promise<UnitResult<unknown>>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * `commit` for an engine with one connection, where waiting for the disk is the cost: units that wait together share one
 * transaction, in the order they came, each behind its own savepoint. A failing unit is undone and rejects alone; when the
 * shared transaction is lost, all of its units reject and none is stored. `tell` hears what a unit published before the unit is
 * answered.
 */
export function createGroupCommit(
  database: DatabaseSync,
  db: Db,
  tell: (event: PlatformEvent) => void,
): {
  readonly commit: Store['commit'];
  /** Resolves when no unit waits or runs. */
  idle(): Promise<void>;
} {
  const waiting: Waiting[] = [];
  let running: Promise<void> | undefined;
  let waitsForDisk: boolean | undefined;

  /** A group is on the disk when it is answered, unless all of it may be lost; the next one that is takes it along. */
  function prepare(group: readonly Waiting[]): void {
    const mustLast = group.some(({ mayBeLost }) => !mayBeLost);
    if (waitsForDisk === mustLast) return;
    database.exec(`pragma synchronous = ${mustLast ? 'full' : 'normal'}`);
    waitsForDisk = mustLast;
  }

  async function runAll(): Promise<void> {
    while (waiting.length > 0) {
      // Not a microtask: requests that arrived in one round of the event loop have all been read only after it.
      await new Promise(resolve => setImmediate(resolve));
      const group = waiting.splice(0, MAX_GROUP);
      await runGroup(database, db, tell, group, () => prepare(group));
    }
    running = undefined;
  }

  return {
    commit: async (unit, { mayBeLost = false } = {}) => {
      refuseInsideUnit('commit() was called');
      return new Promise((resolve, reject) => {
        waiting.push({
          mayBeLost,
          // The group runs in the context of whoever came first; a unit must still see its own.
          run: AsyncLocalStorage.bind((db: Db) => runUnit(db, unit)),
          resolve: resolve as (value: unknown) => void,
          reject,
        });
        running ??= runAll();
      });
    },
    idle: async () => running,
  };
}

async function runGroup(
  database: DatabaseSync,
  db: Db,
  tell: (event: PlatformEvent) => void,
  group: readonly Waiting[],
  prepare: () => void,
): Promise<void> {
  const answers: (() => void)[] = [];
  try {
    await db.connection().execute(async connection => {
      try {
        prepare();
        database.exec('begin immediate');
        for (const { run, resolve, reject } of group) {
          database.exec('savepoint unit');
          try {
            const { value, events } = await run(connection);
            answers.push(() => {
              for (const event of events) tell(event);
              resolve(value);
            });
          } catch (error) {
            if (database.isTransaction) database.exec('rollback to unit');
            answers.push(() => reject(error));
          }
          if (!database.isTransaction) {
            throw new Fault('transaction_lost', 'SQLite gave the transaction up while a unit ran.');
          }
          database.exec('release unit');
        }
        database.exec('commit');
      } finally {
        if (database.isTransaction) database.exec('rollback');
      }
    });
  } catch (error) {
    for (const { reject } of group) reject(error);
    return;
  }
  for (const answer of answers) answer();
}
