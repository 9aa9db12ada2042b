import type { ConversationOutput, StepDatum } from '@patchbay/contract/operations/conversation';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import { prepareInsert } from '../prepared-query.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';

/** What one turn left: values under their keys, and the output readers see. Step 0 is the greeting. */
export interface ConversationStep {
  readonly index: number;
  /** What the person said; `undefined` in the greeting. */
  readonly input: string | undefined;
  readonly data: readonly StepDatum[];
  readonly output: ConversationOutput;
  /** JSON; what the turn changed in the conversation, for `undo`. */
  readonly changes: string;
  readonly createdAt: number;
}

export async function insertConversationSteps(
  db: Db,
  conversationId: string,
  steps: readonly ConversationStep[],
): Promise<void> {
  await insertRows(
    db,
    steps.map(step => ({
      conversation_id: conversationId,
      step_index: step.index,
      input: step.input ?? null,
      data: JSON.stringify(step.data),
      output: JSON.stringify(step.output),
      changes: step.changes,
      created_at: step.createdAt,
    })),
  );
}

const insertRows = prepareInsert('conversation_steps');

/** Steps from this one on: undone ones that a new turn makes past, or the part of a paused turn that was shown. */
export async function deleteConversationSteps(db: Db, conversationId: string, from: number): Promise<void> {
  await db
    .deleteFrom('conversation_steps')
    .where('conversation_id', '=', conversationId)
    .where('step_index', '>=', from)
    .execute();
}

/** Oldest first; with `last` only so many of the newest. */
export async function listConversationSteps(
  db: Db,
  conversationId: string,
  options: { readonly last?: number | undefined } = {},
): Promise<ConversationStep[]> {
  let query = db
    .selectFrom('conversation_steps')
    .select(STEP_COLUMNS)
    .where('conversation_id', '=', conversationId)
    .where(isThere)
    .orderBy('step_index', 'desc');
  if (options.last !== undefined) query = query.limit(options.last);
  const rows = await query.execute();
  return rows.reverse().map(toStep);
}

/** By its number, also an undone one. */
export async function findConversationStep(
  db: Db,
  conversationId: string,
  index: number,
): Promise<ConversationStep | undefined> {
  const row = await db
    .selectFrom('conversation_steps')
    .select(STEP_COLUMNS)
    .where('conversation_id', '=', conversationId)
    .where('step_index', '=', index)
    .executeTakeFirst();
  return row && toStep(row);
}

/** Only the outputs, oldest first: what transcripts are made of. */
export async function listConversationOutputs(
  db: Db,
  conversationId: string,
  options: { readonly last?: number | undefined } = {},
): Promise<ConversationOutput[]> {
  let query = db
    .selectFrom('conversation_steps')
    .select('output')
    .where('conversation_id', '=', conversationId)
    .where(isThere)
    .orderBy('step_index', 'desc');
  if (options.last !== undefined) query = query.limit(options.last);
  const rows = await query.execute();
  return rows.reverse().map(row => JSON.parse(row.output) as ConversationOutput);
}

const STEP_COLUMNS = ['step_index', 'input', 'data', 'output', 'changes', 'created_at'] as const;

function toStep(row: Omit<Schema['conversation_steps'], 'conversation_id'>): ConversationStep {
  return {
    index: row.step_index,
    input: row.input ?? undefined,
    data: JSON.parse(row.data) as StepDatum[],
    output: JSON.parse(row.output) as ConversationOutput,
    changes: row.changes,
    createdAt: row.created_at,
  };
}

/** Not an undone one. */
function isThere(eb: ExpressionBuilder<Schema, 'conversation_steps'>): Expression<SqlBool> {
  return eb(
    'step_index',
    '<',
    eb
      .selectFrom('conversations')
      .select('step_count')
      .whereRef('conversations.id', '=', 'conversation_steps.conversation_id'),
  );
}
