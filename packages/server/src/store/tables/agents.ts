import type { AgentScope, Scope } from '../../kernel/access.ts';
import { publish } from '../events.ts';
import { prepareQuery } from '../prepared-query.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';
import { newRevision } from './agent-revisions.ts';
import { listGrantees, withinScope } from './agent-shares.ts';
import { type Descriptor, listDescriptors } from './documents.ts';
import { decodeRoles, type User } from './users.ts';

/** Who an agent belongs to. What it does is in its documents. */
export interface AgentRecord {
  readonly id: string;
  readonly ownerId: string;
  /** May MCP clients talk to it at its own address? */
  readonly mcpEnabled: boolean;
  readonly createdAt: number;
}

/** With the words people and models know it by. */
export interface DescribedAgent extends AgentRecord {
  readonly name: string;
  readonly description: string;
  /** Who besides the owner may use it: `everyone`, `user:<id>`, `role:<role>`. */
  readonly sharedWith: readonly string[];
}

/** `undefined` also for an agent whose document is deleted. A door asks this once a request. */
export async function findAgent(db: Db, id: string): Promise<DescribedAgent | undefined> {
  const rows = await selectAgent(db, { id });
  const [row] = rows;
  const grantees = rows.flatMap(({ grantee }) => grantee ?? []);
  return row && toDescribedAgent(row, grantees);
}

/** Agents whose document is not deleted, by id. */
export async function listAgents(
  db: Db,
  options: { readonly scope: AgentScope; readonly limit: number; readonly after?: string | undefined },
): Promise<DescribedAgent[]> {
  const { scope, limit, after } = options;
  let query = describedAgents(db).where('documents.deleted', '=', 0).where(withinScope(scope));
  if (after !== undefined) query = query.where('agents.id', '>', after);
  const rows = await query.orderBy('agents.id').limit(limit).execute();
  const grantees = await listGrantees(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map(row => toDescribedAgent(row, grantees.get(row.id) ?? []));
}

const selectAgent = prepareQuery((db, { id }: { id: string }) =>
  describedAgents(db)
    .leftJoin('agent_shares', 'agent_shares.agent_id', 'agents.id')
    .select('agent_shares.grantee')
    .where('agents.id', '=', id)
    .where('documents.deleted', '=', 0),
);

function describedAgents(db: Db) {
  return db
    .selectFrom('agents')
    .innerJoin('documents', join =>
      join.onRef('documents.id', '=', 'agents.id').on('documents.type', '=', 'agent'),
    )
    .select(['agents.id', 'agents.owner_id', 'agents.mcp_enabled', 'agents.created_at'])
    .select(['documents.name', 'documents.description']);
}

function toDescribedAgent(
  row: Omit<Schema['agents'], 'revision'> & Pick<Schema['documents'], 'name' | 'description'>,
  sharedWith: readonly string[],
): DescribedAgent {
  return {
    id: row.id,
    ownerId: row.owner_id,
    mcpEnabled: row.mcp_enabled === 1,
    createdAt: row.created_at,
    name: row.name,
    description: row.description,
    sharedWith,
  };
}

/** Was there ever an agent here? */
export async function hasAgents(db: Db): Promise<boolean> {
  return (await db.selectFrom('agents').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** Owner of the id, also when the agent's document is deleted: an id is never given to somebody else. */
export async function findAgentOwner(db: Db, id: string): Promise<string | undefined> {
  const row = await db.selectFrom('agents').select('owner_id').where('id', '=', id).executeTakeFirst();
  return row?.owner_id;
}

/** The same with their roles; `undefined` also where nobody of that id is there any more. */
export async function findOwnerOfAgent(db: Db, id: string): Promise<Pick<User, 'id' | 'roles'> | undefined> {
  const row = await db
    .selectFrom('agents')
    .innerJoin('users', 'users.id', 'agents.owner_id')
    .select(['users.id', 'users.roles'])
    .where('agents.id', '=', id)
    .executeTakeFirst();
  return row && { id: row.id, roles: decodeRoles(row.roles) };
}

/** False when the id is taken. */
export async function insertAgent(db: Db, agent: AgentRecord): Promise<boolean> {
  const inserted = await db
    .insertInto('agents')
    .values({
      id: agent.id,
      owner_id: agent.ownerId,
      mcp_enabled: agent.mcpEnabled ? 1 : 0,
      created_at: agent.createdAt,
      revision: newRevision(),
    })
    .onConflict(conflict => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function setAgentMcpEnabled(db: Db, id: string, mcpEnabled: boolean): Promise<void> {
  await db
    .updateTable('agents')
    .set({ mcp_enabled: mcpEnabled ? 1 : 0, revision: newRevision() })
    .where('id', '=', id)
    .execute();
  publish(db, { kind: 'agent-changed', agentId: id });
}

/** Until the unit ends, no other unit locks or changes the agent. */
export async function lockAgent(db: Db, id: string): Promise<void> {
  await db
    .updateTable('agents')
    .set(eb => ({ owner_id: eb.ref('owner_id') }))
    .where('id', '=', id)
    .execute();
}

/** Configurations of agents, deployed or not; see `listDescriptors` for filter and order. */
export function listAgentDescriptors(
  db: Db,
  options: { readonly scope: Scope; readonly filter?: string | undefined; readonly limit: number },
): Promise<Descriptor[]> {
  const { scope, filter, limit } = options;
  const within =
    scope.kind === 'all'
      ? undefined
      : db.selectFrom('agents').select('agents.id').where('owner_id', '=', scope.ownerId);
  return listDescriptors(db, 'agent', { filter, limit, within });
}
