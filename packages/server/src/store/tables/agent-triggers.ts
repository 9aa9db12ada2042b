import type { Environment } from '@patchbay/contract/environments';
import type { Scope } from '../../kernel/access.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';

/** An agent an intent stands for, and what a conversation with it begins with. */
export interface TriggerDeployment {
  readonly agentId: string;
  /** Where it is deployed; `undefined`: where the caller says. */
  readonly environment?: Environment | undefined;
  readonly initialContext: Readonly<Record<string, unknown>>;
}

/** What an intent stands for. */
export interface AgentTrigger {
  readonly intent: string;
  readonly ownerId: string;
  /** One at least; the first is the one that is talked to. */
  readonly deployments: readonly TriggerDeployment[];
}

/** False when the intent is taken. */
export async function insertTrigger(db: Db, trigger: AgentTrigger, at: number): Promise<boolean> {
  const { intent, ownerId, deployments } = trigger;
  const row = await db
    .insertInto('agent_triggers')
    .values({
      intent,
      owner_id: ownerId,
      deployments: JSON.stringify(deployments),
      created_at: at,
      modified_at: at,
    })
    .onConflict(conflict => conflict.column('intent').doNothing())
    .returning('intent')
    .executeTakeFirst();
  if (row) await insertAgents(db, trigger);
  return row !== undefined;
}

/** False when it is not there. */
export async function updateTrigger(
  db: Db,
  trigger: Pick<AgentTrigger, 'intent' | 'deployments'>,
  at: number,
): Promise<boolean> {
  const { intent, deployments } = trigger;
  const row = await db
    .updateTable('agent_triggers')
    .set({ deployments: JSON.stringify(deployments), modified_at: at })
    .where('intent', '=', intent)
    .returning('intent')
    .executeTakeFirst();
  if (!row) return false;
  await db.deleteFrom('agent_trigger_agents').where('intent', '=', intent).execute();
  await insertAgents(db, trigger);
  return true;
}

/** The conversations that began with it stay. False when it is not there. */
export async function deleteTrigger(db: Db, intent: string): Promise<boolean> {
  const row = await db
    .deleteFrom('agent_triggers')
    .where('intent', '=', intent)
    .returning('intent')
    .executeTakeFirst();
  return row !== undefined;
}

export async function findTrigger(db: Db, intent: string): Promise<AgentTrigger | undefined> {
  const row = await db
    .selectFrom('agent_triggers')
    .select(TRIGGER_COLUMNS)
    .where('intent', '=', intent)
    .executeTakeFirst();
  return row && toTrigger(row);
}

/** By intent. */
export async function listTriggers(db: Db, scope: Scope): Promise<AgentTrigger[]> {
  const rows = await db
    .selectFrom('agent_triggers')
    .select(TRIGGER_COLUMNS)
    .$if(scope.kind === 'owned', query =>
      query.where('owner_id', '=', scope.kind === 'owned' ? scope.ownerId : ''),
    )
    .orderBy('intent')
    .execute();
  return rows.map(toTrigger);
}

export async function countTriggers(db: Db, ownerId: string): Promise<number> {
  const row = await db
    .selectFrom('agent_triggers')
    .select(eb => eb.fn.countAll<number | string>().as('count'))
    .where('owner_id', '=', ownerId)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** The intents of each agent, by intent; an agent without one is not in the map. */
export async function listIntents(db: Db, agentIds: readonly string[]): Promise<Map<string, string[]>> {
  const intents = new Map<string, string[]>();
  if (agentIds.length === 0) return intents;
  const rows = await db
    .selectFrom('agent_trigger_agents')
    .select(['agent_id', 'intent'])
    .where('agent_id', 'in', agentIds)
    .orderBy('intent')
    .execute();
  for (const { agent_id: agentId, intent } of rows) {
    const known = intents.get(agentId);
    if (known) known.push(intent);
    else intents.set(agentId, [intent]);
  }
  return intents;
}

async function insertAgents(
  db: Db,
  { intent, deployments }: Pick<AgentTrigger, 'intent' | 'deployments'>,
): Promise<void> {
  const agentIds = [...new Set(deployments.map(({ agentId }) => agentId))];
  await db
    .insertInto('agent_trigger_agents')
    .values(agentIds.map(agentId => ({ intent, agent_id: agentId })))
    .execute();
}

const TRIGGER_COLUMNS = ['intent', 'owner_id', 'deployments'] as const;

function toTrigger(row: Pick<Schema['agent_triggers'], (typeof TRIGGER_COLUMNS)[number]>): AgentTrigger {
  return { intent: row.intent, ownerId: row.owner_id, deployments: JSON.parse(row.deployments) };
}
