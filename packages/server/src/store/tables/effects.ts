import { NOW } from '../now.ts';
import { prepareQuery } from '../prepared-query.ts';
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
  await insertEffect(db, { ...lease, ...effect, outcome: null });
}

const insertEffect = prepareQuery(
  (
    db,
    effect: ConversationLease & EffectPlace & { readonly what: string; readonly outcome: string | null },
  ) =>
    db.insertInto('effects').values({
      conversation_id: effect.conversationId,
      step_index: effect.stepIndex,
      task_index: effect.taskIndex,
      number: effect.number,
      fence: effect.fence,
      what: effect.what,
      outcome: effect.outcome,
      started_at: NOW,
    }),
);

/** Writes down what is known already and was done nowhere outside. The unit has made sure of the lease. */
export async function insertRecorded(
  db: Db,
  lease: ConversationLease,
  recorded: EffectPlace & { readonly value: unknown },
): Promise<void> {
  await insertEffect(db, { ...lease, ...recorded, what: '', outcome: JSON.stringify(recorded.value) });
}

/** Writes down how it ended; nothing when the turn was taken over or has ended meanwhile. */
export async function setOutcome(
  db: Db,
  lease: ConversationLease,
  place: EffectPlace,
  outcome: unknown,
): Promise<void> {
  await updateOutcome(db, { ...lease, ...place, outcome: JSON.stringify(outcome) });
}

const updateOutcome = prepareQuery(
  (db, effect: ConversationLease & EffectPlace & { readonly outcome: string }) =>
    db
      .updateTable('effects')
      .set({ outcome: effect.outcome })
      .where('conversation_id', '=', effect.conversationId)
      .where('step_index', '=', effect.stepIndex)
      .where('task_index', '=', effect.taskIndex)
      .where('number', '=', effect.number)
      .where('fence', '=', effect.fence),
);

/**
 * What has no outcome has none from now on, also when whoever began it comes back with one: every run of the turn must find the same. The unit has
 * claimed the turn.
 */
export async function takeOverEffects(db: Db, { conversationId, fence }: ConversationLease): Promise<void> {
  await db
    .updateTable('effects')
    .set({ fence })
    .where('conversation_id', '=', conversationId)
    .where('outcome', 'is', null)
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
