import type { ConversationOutput, StepDatum } from '@patchbay/contract/operations/conversation';
import { prepareInsert } from '../prepared-query.ts';
import type { Db } from '../store.ts';

/** What one turn left: values under their keys, and the output readers see. Step 0 is the greeting. */
export interface ConversationStep {
  readonly index: number;
  /** What the person said; `undefined` in the greeting. */
  readonly input: string | undefined;
  readonly data: readonly StepDatum[];
  readonly output: ConversationOutput;
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
      created_at: step.createdAt,
    })),
  );
}

const insertRows = prepareInsert('conversation_steps');

/** Oldest first; with `last` only so many of the newest. */
export async function listConversationSteps(
  db: Db,
  conversationId: string,
  options: { readonly last?: number | undefined } = {},
): Promise<ConversationStep[]> {
  let query = db
    .selectFrom('conversation_steps')
    .select(['step_index', 'input', 'data', 'output', 'created_at'])
    .where('conversation_id', '=', conversationId)
    .orderBy('step_index', 'desc');
  if (options.last !== undefined) query = query.limit(options.last);
  const rows = await query.execute();
  return rows.reverse().map(row => ({
    index: row.step_index,
    input: row.input ?? undefined,
    data: JSON.parse(row.data) as StepDatum[],
    output: JSON.parse(row.output) as ConversationOutput,
    createdAt: row.created_at,
  }));
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
    .orderBy('step_index', 'desc');
  if (options.last !== undefined) query = query.limit(options.last);
  const rows = await query.execute();
  return rows.reverse().map(row => JSON.parse(row.output) as ConversationOutput);
}
