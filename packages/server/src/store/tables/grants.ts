import { publish } from '../events.ts';
import { prepareQuery } from '../prepared-query.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';

/** What a person has allowed a client, in one consent. */
export interface GrantRecord {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  /** As it was shown when it was allowed. */
  readonly clientName: string;
  /** Which door its tokens open. */
  readonly door: 'operator' | 'agents';
  /** The agents that were chosen; empty at the operator door. */
  readonly agentIds: readonly string[];
  /** Scopes of the door, separated by spaces. */
  readonly scope: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly revokedAt: number | undefined;
}

export async function insertGrant(db: Db, grant: GrantRecord): Promise<void> {
  await db
    .insertInto('grants')
    .values({
      id: grant.id,
      user_id: grant.userId,
      client_id: grant.clientId,
      client_name: grant.clientName,
      door: grant.door,
      agents: JSON.stringify(grant.agentIds),
      scope: grant.scope,
      created_at: grant.createdAt,
      expires_at: grant.expiresAt,
      revoked_at: grant.revokedAt ?? null,
    })
    .execute();
}

/** Revoked and ended ones, too. A door asks this once a request. */
export async function findGrant(db: Db, id: string): Promise<GrantRecord | undefined> {
  const [row] = await selectGrant(db, { id });
  return row && toRecord(row);
}

const selectGrant = prepareQuery((db, { id }: { id: string }) =>
  db.selectFrom('grants').selectAll().where('id', '=', id),
);

/** What the person allows at `now`, newest first. */
export async function listGrantsOf(
  db: Db,
  filter: { readonly userId: string; readonly now: number; readonly limit: number },
): Promise<GrantRecord[]> {
  const rows = await db
    .selectFrom('grants')
    .selectAll()
    .where('user_id', '=', filter.userId)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', filter.now)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(filter.limit)
    .execute();
  return rows.map(toRecord);
}

/**
 * Takes it back, with `userId` only that person's: false when there is no such grant. Revoking twice keeps the first time, and tells the news
 * again.
 */
export async function revokeGrant(
  db: Db,
  grant: { readonly id: string; readonly userId?: string | undefined; readonly at: number },
): Promise<boolean> {
  const found = await findGrant(db, grant.id);
  if (!found || (grant.userId !== undefined && found.userId !== grant.userId)) return false;
  if (found.revokedAt === undefined) {
    await db.updateTable('grants').set({ revoked_at: grant.at }).where('id', '=', grant.id).execute();
  }
  publish(db, { kind: 'grant-changed', grantId: grant.id });
  return true;
}

const REVOKE_AT_ONCE = 100;

/** Takes back all that the person allows. */
export async function revokeGrantsOf(db: Db, userId: string, at: number): Promise<void> {
  for (;;) {
    const grants = await listGrantsOf(db, { userId, now: at, limit: REVOKE_AT_ONCE });
    for (const { id } of grants) await revokeGrant(db, { id, at });
    if (grants.length < REVOKE_AT_ONCE) return;
  }
}

/** Removes those that ended, or were revoked, before `before`. Their tokens are long over. */
export async function removeEndedGrants(db: Db, before: number): Promise<void> {
  await db
    .deleteFrom('grants')
    .where(eb => eb.or([eb('expires_at', '<', before), eb('revoked_at', '<', before)]))
    .execute();
}

function toRecord(row: Schema['grants']): GrantRecord {
  return {
    id: row.id,
    userId: row.user_id,
    clientId: row.client_id,
    clientName: row.client_name,
    door: row.door === 'operator' ? 'operator' : 'agents',
    agentIds: JSON.parse(row.agents) as string[],
    scope: row.scope,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at ?? undefined,
  };
}
