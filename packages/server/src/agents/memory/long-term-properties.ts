import type { Db } from '../../store/store.ts';
import {
  countMemories,
  countMemoryAccess,
  deleteOldestMemories,
  hasMemory,
  type MemoryVisibility,
  type RecalledMemory,
  recallAccessedMemories,
  recallRecentMemories,
  upsertMemory,
} from '../../store/tables/user-memories.ts';
import type { UserMemoryConfig } from '../document/agent.ts';

/** Whose memory, and which agent asks. */
export interface MemoryOwner {
  readonly userId: string;
  readonly agentId: string;
}

/** What a conversation starts with. */
export interface RecalledProperties {
  readonly properties: Readonly<Record<string, unknown>>;
  /** Entries whose recall is counted, with `storeLongTerm`. */
  readonly counted: readonly string[];
}

/** A long-term property that a turn has set. */
export interface LongTermProperty {
  readonly value: unknown;
  /** `undefined`: the agent's default. */
  readonly visibility: MemoryVisibility | undefined;
}

/**
 * What the agent knows of the person when a conversation starts: its own entries and the global ones, as many as its
 * configuration says. Of two entries with one key the one that was changed last counts.
 */
export async function recallProperties(
  db: Db,
  owner: MemoryOwner,
  config: UserMemoryConfig,
): Promise<RecalledProperties> {
  const { maxRecallEntries, recallOrder } = config;
  const recent = await recallRecentMemories(db, { ...owner, limit: maxRecallEntries });
  if (recallOrder === 'most_recent') return { properties: toProperties(recent), counted: [] };
  const accessed = await recallAccessedMemories(db, { ...owner, limit: maxRecallEntries });
  const chosen = mostAccessed(accessed, recent, maxRecallEntries);
  return { properties: toProperties(chosen), counted: chosen.map(({ id }) => id) };
}

/** A fifth of the places is for what is new, which nobody has recalled yet. */
function mostAccessed(
  accessed: readonly RecalledMemory[],
  recent: readonly RecalledMemory[],
  places: number,
): RecalledMemory[] {
  const forRecent = places <= 1 ? 0 : Math.max(1, Math.floor(places / 5));
  const reserved = recent.slice(0, forRecent);
  const ids = new Set(reserved.map(({ id }) => id));
  const rest = accessed.filter(({ id }) => !ids.has(id)).slice(0, places - reserved.length);
  return [...reserved, ...rest];
}

function toProperties(memories: readonly RecalledMemory[]): Record<string, unknown> {
  const properties = new Map<string, unknown>();
  for (const { key, value } of memories) if (!properties.has(key)) properties.set(key, value);
  return Object.fromEntries(properties);
}

/**
 * Keeps the long-term properties of a turn, inside the unit that commits it, and counts what its conversation recalled. Outside of
 * a group nobody shares a group's property: it is kept as the agent's own. Returns the names that were not kept because the agent
 * has as many entries about the person as it may.
 */
export async function storeLongTerm(
  db: Db,
  turn: MemoryOwner & {
    readonly conversationId: string;
    readonly properties: Readonly<Record<string, LongTermProperty>>;
    readonly counted: readonly string[];
    readonly at: number;
  },
  config: UserMemoryConfig,
): Promise<string[]> {
  const { userId, agentId, conversationId, at } = turn;
  await countMemoryAccess(db, turn.counted);
  const entries = Object.entries(turn.properties);
  if (entries.length === 0) return [];
  const refused: string[] = [];
  let count = await countMemories(db, turn);
  for (const [key, { value, visibility = config.defaultVisibility }] of entries) {
    const memory = {
      userId,
      agentId,
      key,
      visibility: visibility === 'group' ? 'self' : visibility,
    } as const;
    if (!(await hasMemory(db, memory))) {
      if (count >= config.maxEntriesPerUser && config.onCapReached === 'reject') {
        refused.push(key);
        continue;
      }
      count += 1;
    }
    await upsertMemory(db, { ...memory, conversationId, value, category: 'property', at });
  }
  const over = count - config.maxEntriesPerUser;
  if (over > 0) await deleteOldestMemories(db, { userId, agentId, count: over });
  return refused;
}
