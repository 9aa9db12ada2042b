import type { Environment } from '@patchbay/contract/operations/conversation';
import type { Scope } from '../../kernel/access.ts';
import { prepareQuery } from '../prepared-query.ts';
import type { Db, Engine } from '../store.ts';
import { describedAs } from './documents.ts';

export type DeploymentStatus = 'READY' | 'ERROR';

/** One version of an agent running in one environment. */
export interface Deployment {
  readonly environment: Environment;
  readonly agentId: string;
  readonly agentVersion: number;
  readonly status: DeploymentStatus;
}

/** A deployment with the words people know its agent by. */
export interface DescribedDeployment extends Deployment {
  readonly name: string;
  readonly description: string;
  readonly createdBy: string;
  readonly createdAt: number;
  readonly modifiedBy: string;
  readonly modifiedAt: number;
}

/** What a new conversation needs to know of its agent. */
export interface DeployedAgent {
  readonly id: string;
  readonly ownerId: string;
  /** The latest version deployed in the environment; `undefined` when none is. */
  readonly deployed: { readonly version: number; readonly status: DeploymentStatus } | undefined;
}

/** The version takes the place of what the environment ran of this agent. */
export async function replaceDeployment(
  db: Db,
  deployment: Deployment & { readonly deployedBy: string; readonly deployedAt: number },
): Promise<void> {
  await db
    .deleteFrom('deployments')
    .where('environment', '=', deployment.environment)
    .where('agent_id', '=', deployment.agentId)
    .execute();
  await db
    .insertInto('deployments')
    .values({
      environment: deployment.environment,
      agent_id: deployment.agentId,
      agent_version: deployment.agentVersion,
      status: deployment.status,
      deployed_by: deployment.deployedBy,
      deployed_at: deployment.deployedAt,
    })
    .execute();
}

export async function setDeploymentStatus(
  db: Db,
  agent: { readonly agentId: string; readonly agentVersion: number },
  status: DeploymentStatus,
): Promise<void> {
  await db
    .updateTable('deployments')
    .set({ status })
    .where('agent_id', '=', agent.agentId)
    .where('agent_version', '=', agent.agentVersion)
    .execute();
}

/** The latest version of the agent in the environment. */
export async function findDeployment(
  db: Db,
  environment: Environment,
  agentId: string,
): Promise<Deployment | undefined> {
  const row = await db
    .selectFrom('deployments')
    .select(['environment', 'agent_id', 'agent_version', 'status'])
    .where('environment', '=', environment)
    .where('agent_id', '=', agentId)
    .orderBy('agent_version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && toDeployment(row);
}

/** The agent and its latest deployment in one query: a new conversation asks this once. */
export async function findDeployedAgent(
  db: Db,
  engine: Engine,
  environment: Environment,
  agentId: string,
): Promise<DeployedAgent | undefined> {
  const [row] = await selectDeployedAgent(db, engine, { environment, agentId });
  return (
    row && {
      id: agentId,
      ownerId: row.owner_id,
      deployed:
        row.agent_version === null ? undefined : { version: row.agent_version, status: toStatus(row.status) },
    }
  );
}

const selectDeployedAgent = prepareQuery((db, wanted: { environment: Environment; agentId: string }) =>
  db
    .selectFrom('agents')
    .innerJoin('documents', join =>
      join.onRef('documents.id', '=', 'agents.id').on('documents.type', '=', 'agent'),
    )
    .leftJoin('deployments', join =>
      join
        .onRef('deployments.agent_id', '=', 'agents.id')
        .on('deployments.environment', '=', wanted.environment),
    )
    .select(['agents.owner_id', 'deployments.agent_version', 'deployments.status'])
    .where('agents.id', '=', wanted.agentId)
    .where('documents.deleted', '=', 0)
    .orderBy('deployments.agent_version', 'desc')
    .limit(1),
);

/** Every deployment of every environment, for the check at start. */
export async function listAllDeployments(db: Db): Promise<Deployment[]> {
  const rows = await db
    .selectFrom('deployments')
    .select(['environment', 'agent_id', 'agent_version', 'status'])
    .orderBy('deployed_at', 'desc')
    .orderBy('agent_id')
    .execute();
  return rows.map(toDeployment);
}

/** Deployed agents of one environment that are not deleted, by name; an agent's versions with the latest first. */
export async function listDeployments(
  db: Db,
  filter: {
    readonly environment: Environment;
    readonly scope: Scope;
    /** Contained in name or description. */
    readonly text?: string | undefined;
  },
): Promise<DescribedDeployment[]> {
  let query = db
    .selectFrom('deployments')
    .innerJoin('agents', 'agents.id', 'deployments.agent_id')
    .innerJoin('documents', join =>
      join.onRef('documents.id', '=', 'agents.id').on('documents.type', '=', 'agent'),
    )
    .select([
      'deployments.environment',
      'deployments.agent_id',
      'deployments.agent_version',
      'deployments.status',
      'documents.name',
      'documents.description',
      'documents.created_by',
      'documents.created_at',
      'documents.modified_by',
      'documents.modified_at',
    ])
    .where('deployments.environment', '=', filter.environment)
    .where('documents.deleted', '=', 0);
  if (filter.text !== undefined && filter.text !== '') query = query.where(describedAs(filter.text));
  if (filter.scope.kind === 'owned') query = query.where('agents.owner_id', '=', filter.scope.ownerId);
  const rows = await query
    .orderBy('documents.name')
    .orderBy('deployments.agent_id')
    .orderBy('deployments.agent_version', 'desc')
    .execute();
  return rows.map(row => ({
    ...toDeployment(row),
    name: row.name,
    description: row.description,
    createdBy: row.created_by,
    createdAt: row.created_at,
    modifiedBy: row.modified_by,
    modifiedAt: row.modified_at,
  }));
}

function toDeployment(row: {
  environment: string;
  agent_id: string;
  agent_version: number;
  status: string;
}): Deployment {
  return {
    environment: row.environment as Environment,
    agentId: row.agent_id,
    agentVersion: row.agent_version,
    status: toStatus(row.status),
  };
}

function toStatus(status: string | null): DeploymentStatus {
  return status === 'READY' ? 'READY' : 'ERROR';
}
