import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { AgentScope } from '../../kernel/access.ts';
import { publish } from '../events.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';
import { noteAgentChange } from './agent-revisions.ts';

/** With whom agents are shared: `everyone` who is signed in, `user:<id>` or `role:<role>`. */

/** Grantees of these agents, by agent; those that are shared with nobody are not in it. */
export async function listGrantees(
  db: Db,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  if (agentIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('agent_shares')
    .select(['agent_id', 'grantee'])
    .where('agent_id', 'in', agentIds)
    .orderBy('grantee')
    .execute();
  const byAgent = Map.groupBy(rows, row => row.agent_id);
  return new Map([...byAgent].map(([agentId, shares]) => [agentId, shares.map(({ grantee }) => grantee)]));
}

/** Holds for the agents a caller may see: `query.where(withinScope(scope))`, where `agents` is one of the tables. */
export function withinScope(scope: AgentScope) {
  return (eb: ExpressionBuilder<Schema, 'agents'>): Expression<SqlBool> => {
    if (scope.kind === 'all') return eb.lit(true);
    const isOwn = eb('agents.owner_id', '=', scope.ownerId);
    if (scope.kind === 'owned') return isOwn;
    const shared = eb.selectFrom('agent_shares').select('agent_id').where('grantee', 'in', scope.grantees);
    return eb.or([isOwn, eb('agents.id', 'in', shared)]);
  };
}

/** One line of with whom an agent is shared. */
export interface Share {
  readonly grantee: string;
  /** Of the person, where it is one. */
  readonly name: string | undefined;
  readonly createdAt: number;
}

/** In the order of the grantees. */
export async function listShares(db: Db, agentId: string): Promise<Share[]> {
  const rows = await db
    .selectFrom('agent_shares')
    .select(['grantee', 'created_at'])
    .where('agent_id', '=', agentId)
    .orderBy('grantee')
    .execute();
  const ids = rows.flatMap(({ grantee }) => (grantee.startsWith(USER) ? grantee.slice(USER.length) : []));
  const people =
    ids.length === 0
      ? []
      : await db.selectFrom('users').select(['id', 'name']).where('id', 'in', ids).execute();
  const names = new Map(people.map(({ id, name }) => [USER + id, name]));
  return rows.map(({ grantee, created_at }) => ({
    grantee,
    name: names.get(grantee),
    createdAt: created_at,
  }));
}

const USER = 'user:';

/** Sharing with the same grantee once more changes nothing. */
export async function insertShare(
  db: Db,
  share: { readonly agentId: string; readonly grantee: string; readonly createdAt: number },
): Promise<void> {
  await db
    .insertInto('agent_shares')
    .values({ agent_id: share.agentId, grantee: share.grantee, created_at: share.createdAt })
    .onConflict(conflict => conflict.columns(['agent_id', 'grantee']).doNothing())
    .execute();
  await noteShares(db, share.agentId);
}

/** Ends a share, or all of the agent's. */
export async function deleteShares(db: Db, agentId: string, grantee?: string): Promise<void> {
  let query = db.deleteFrom('agent_shares').where('agent_id', '=', agentId);
  if (grantee !== undefined) query = query.where('grantee', '=', grantee);
  await query.execute();
  await noteShares(db, agentId);
}

async function noteShares(db: Db, agentId: string): Promise<void> {
  await noteAgentChange(db, agentId);
  publish(db, { kind: 'agent-changed', agentId });
}
