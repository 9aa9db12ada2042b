import { newMemoryId } from '../../kernel/ids.ts';
import { prepareQuery } from '../prepared-query.ts';
import type { Db } from '../store.ts';

/** Who recalls an entry besides the agent that wrote it (platform.md 7.2). */
export type MemoryVisibility = 'self' | 'group' | 'global';

/** What an entry is about. */
export type MemoryCategory = 'preference' | 'fact' | 'context' | 'legacy' | 'property' | 'gdpr';

/** An entry as an agent recalls it. */
export interface RecalledMemory {
  readonly id: string;
  readonly key: string;
  readonly value: unknown;
}

/** An entry to keep. */
export interface NewMemory {
  readonly userId: string;
  readonly agentId: string;
  readonly conversationId: string;
  readonly key: string;
  /** Any JSON value. */
  readonly value: unknown;
  readonly category: MemoryCategory;
  readonly visibility: MemoryVisibility;
  readonly at: number;
}

/** What an agent may recall of a person: its own entries and the global ones, those changed last first. */
export async function recallRecentMemories(
  db: Db,
  whose: { readonly userId: string; readonly agentId: string; readonly limit: number },
): Promise<RecalledMemory[]> {
  return (await selectRecent(db, whose)).map(toRecalled);
}

/** As `recallRecentMemories`, but those recalled most often first. */
export async function recallAccessedMemories(
  db: Db,
  whose: { readonly userId: string; readonly agentId: string; readonly limit: number },
): Promise<RecalledMemory[]> {
  return (await selectAccessed(db, whose)).map(toRecalled);
}

type Recall = { userId: string; agentId: string; limit: number };

const selectRecent = prepareQuery((db, recall: Recall) =>
  recallable(db, recall).orderBy('updated_at', 'desc').orderBy('id').limit(recall.limit),
);

const selectAccessed = prepareQuery((db, recall: Recall) =>
  recallable(db, recall)
    .orderBy('access_count', 'desc')
    .orderBy('updated_at', 'desc')
    .orderBy('id')
    .limit(recall.limit),
);

function recallable(db: Db, { userId, agentId }: Recall) {
  return db
    .selectFrom('user_memories')
    .select(['id', 'key', 'value'])
    .where('user_id', '=', userId)
    .where('identity_agent_id', 'in', ['', agentId]);
}

function toRecalled(row: { id: string; key: string; value: string }): RecalledMemory {
  return { id: row.id, key: row.key, value: JSON.parse(row.value) };
}

/** Notes that entries were recalled. */
export async function countMemoryAccess(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('user_memories')
    .set(eb => ({ access_count: eb('access_count', '+', 1) }))
    .where('id', 'in', ids)
    .execute();
}

/**
 * Keeps an entry, in place of the one it is the same as: of the agent's own by key, or of the person's global ones, whose first
 * writer stays their owner.
 */
export async function upsertMemory(db: Db, memory: NewMemory): Promise<void> {
  const value = JSON.stringify(memory.value);
  const changed = { source_conversation_id: memory.conversationId, updated_at: memory.at };
  await db
    .insertInto('user_memories')
    .values({
      id: newMemoryId(),
      user_id: memory.userId,
      key: memory.key,
      value,
      category: memory.category,
      visibility: memory.visibility,
      source_agent_id: memory.agentId,
      identity_agent_id: identityOf(memory),
      group_ids: '[]',
      conflicted: 0,
      access_count: 0,
      created_at: memory.at,
      ...changed,
    })
    .onConflict(conflict =>
      conflict.columns(['user_id', 'key', 'identity_agent_id']).doUpdateSet({
        value,
        category: memory.category,
        visibility: memory.visibility,
        ...changed,
      }),
    )
    .execute();
}

export async function hasMemory(
  db: Db,
  memory: Pick<NewMemory, 'userId' | 'agentId' | 'key' | 'visibility'>,
): Promise<boolean> {
  const row = await db
    .selectFrom('user_memories')
    .select('id')
    .where('user_id', '=', memory.userId)
    .where('key', '=', memory.key)
    .where('identity_agent_id', '=', identityOf(memory))
    .executeTakeFirst();
  return row !== undefined;
}

/** How many entries the agent has written about the person. */
export async function countMemories(
  db: Db,
  whose: { readonly userId: string; readonly agentId: string },
): Promise<number> {
  const { count } = await db
    .selectFrom('user_memories')
    .select(eb => eb.fn.countAll<number | string>().as('count'))
    .where('user_id', '=', whose.userId)
    .where('source_agent_id', '=', whose.agentId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Deletes so many of the entries the agent has written about the person, those changed longest ago. */
export async function deleteOldestMemories(
  db: Db,
  whose: { readonly userId: string; readonly agentId: string; readonly count: number },
): Promise<void> {
  await db
    .deleteFrom('user_memories')
    .where('id', 'in', eb =>
      eb
        .selectFrom('user_memories')
        .select('id')
        .where('user_id', '=', whose.userId)
        .where('source_agent_id', '=', whose.agentId)
        .orderBy('updated_at')
        .orderBy('id')
        .limit(whose.count),
    )
    .execute();
}

/** A person has one global entry a key, whoever wrote it, and one a key of each agent. */
function identityOf({ visibility, agentId }: Pick<NewMemory, 'visibility' | 'agentId'>): string {
  return visibility === 'global' ? '' : agentId;
}
