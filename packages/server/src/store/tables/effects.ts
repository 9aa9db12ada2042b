import { NOW } from '../now.ts';
import type { Db } from '../store.ts';
import type { ConversationLease } from './conversations.ts';

/** Where in a turn an effect has its place: the same in every run of the turn. */
export interface EffectPlace {
  readonly stepIndex: number;
  readonly taskIndex: number;
  /** Counted within the task, from 0. */
  readonly number: number;
}

/** An effect as the journal knows it. */
export interface JournaledEffect extends EffectPlace {
  readonly what: string;
  /** `undefined` when nobody knows how it ended. */
  readonly outcome: { readonly value: unknown } | undefined;
}

/** Writes down what is about to be done, before it is. The unit has made sure of the lease. */
export async function insertIntent(
  db: Db,
  lease: ConversationLease,
  effect: EffectPlace & { readonly what: string },
): Promise<void> {
  await db
    .insertInto('effects')
    .values({
      conversation_id: lease.conversationId,
      step_index: effect.stepIndex,
      task_index: effect.taskIndex,
      number: effect.number,
      fence: lease.fence,
      what: effect.what,
      outcome: null,
      started_at: NOW,
    })
    .execute();
}

/** Writes down how it ended; nothing when the turn was taken over or has ended meanwhile. */
export async function setOutcome(
  db: Db,
  lease: ConversationLease,
  place: EffectPlace,
  outcome: unknown,
): Promise<void> {
  await db
    .updateTable('effects')
    .set({ outcome: JSON.stringify(outcome) })
    .where('conversation_id', '=', lease.conversationId)
    .where('step_index', '=', place.stepIndex)
    .where('task_index', '=', place.taskIndex)
    .where('number', '=', place.number)
    .where('fence', '=', lease.fence)
    .execute();
}

/** Everything the turn has done or was about to do. */
export async function listEffects(db: Db, conversationId: string): Promise<JournaledEffect[]> {
  const rows = await db
    .selectFrom('effects')
    .select(['step_index', 'task_index', 'number', 'what', 'outcome'])
    .where('conversation_id', '=', conversationId)
    .execute();
  return rows.map(row => ({
    stepIndex: row.step_index,
    taskIndex: row.task_index,
    number: row.number,
    what: row.what,
    outcome: row.outcome === null ? undefined : { value: JSON.parse(row.outcome) },
  }));
}
