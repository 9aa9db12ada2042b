import { randomInt } from 'node:crypto';
import { prepareQuery } from '../prepared-query.ts';
import type { Db } from '../store.ts';

/**
 * Drawn and not counted: a unit that was undone gives its number to nobody, so what somebody remembers under it can never be
 * taken for something else.
 */
export function newRevision(): number {
  return randomInt(2 ** 47);
}

/** Says that the agent, or what is deployed of it, is no longer as it was: whatever is remembered of it is read again. */
export async function noteAgentChange(db: Db, id: string): Promise<void> {
  await db.updateTable('agents').set({ revision: newRevision() }).where('id', '=', id).execute();
}

/** `undefined` for an agent there never was. */
export async function findAgentRevision(db: Db, id: string): Promise<number | undefined> {
  const [row] = await selectRevision(db, { id });
  return row?.revision;
}

const selectRevision = prepareQuery((db, { id }: { id: string }) =>
  db.selectFrom('agents').select('revision').where('id', '=', id),
);
