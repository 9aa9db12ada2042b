import { randomInt } from 'node:crypto';
import type { Environment } from '@patchbay/contract/environments';
import { prepareQuery } from '../prepared-query.ts';
import type { Db } from '../store.ts';

/**
 * Drawn and not counted: a unit that was undone gives its number to nobody, so what somebody remembers under it can never be
 * taken for something else.
 */
export function newRevision(): number {
  return randomInt(2 ** 47);
}

/** Says that the agent, or what is deployed of it, is no longer as it was: whatever is remembered of it is read again. */
export async function noteAgentChange(db: Db, id: string): Promise<void> {
  await db.updateTable('agents').set({ revision: newRevision() }).where('id', '=', id).execute();
}

/** What a turn needs to know of its agent besides the conversation. */
export interface AgentSituation {
  readonly id: string;
  readonly ownerId: string;
  readonly deployed: readonly {
    readonly environment: Environment;
    readonly version: number;
    /** Conversations from this version on may go on with it. */
    readonly compatibleFrom: number | undefined;
  }[];
}

/** `undefined` for an agent that is not there or whose document is deleted. It stays true while the revision is the same. */
export async function readAgentSituation(db: Db, id: string): Promise<AgentSituation | undefined> {
  const rows = await db
    .selectFrom('agents')
    .innerJoin('documents', join =>
      join.onRef('documents.id', '=', 'agents.id').on('documents.type', '=', 'agent'),
    )
    .leftJoin('deployments', 'deployments.agent_id', 'agents.id')
    .select(['agents.owner_id', 'deployments.environment', 'deployments.agent_version'])
    .select('deployments.compatible_from')
    .where('agents.id', '=', id)
    .where('documents.deleted', '=', 0)
    .execute();
  const [first] = rows;
  return (
    first && {
      id,
      ownerId: first.owner_id,
      deployed: rows.flatMap(({ environment, agent_version, compatible_from }) =>
        agent_version === null
          ? []
          : {
              environment: environment as Environment,
              version: agent_version,
              compatibleFrom: compatible_from ?? undefined,
            },
      ),
    }
  );
}

/** `undefined` for an agent there never was. */
export async function findAgentRevision(db: Db, id: string): Promise<number | undefined> {
  const [row] = await selectRevision(db, { id });
  return row?.revision;
}

const selectRevision = prepareQuery((db, { id }: { id: string }) =>
  db.selectFrom('agents').select('revision').where('id', '=', id),
);
