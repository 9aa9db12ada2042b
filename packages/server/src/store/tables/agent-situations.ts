import type { Environment } from '@patchbay/contract/environments';
import type { Db } from '../store.ts';
import { listGrantees } from './agent-shares.ts';

/** What a turn needs to know of its agent besides the conversation. */
export interface AgentSituation {
  readonly id: string;
  readonly ownerId: string;
  /** As in `DescribedAgent`. */
  readonly sharedWith: readonly string[];
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
  const grantees = await listGrantees(db, [id]);
  return (
    first && {
      id,
      ownerId: first.owner_id,
      sharedWith: grantees.get(id) ?? [],
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
