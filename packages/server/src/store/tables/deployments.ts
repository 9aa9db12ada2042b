import type { Environment } from '@patchbay/contract/environments';
import type { AgentScope, Scope } from '../../kernel/access.ts';
import { publish } from '../events.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';
import { noteAgentChange } from './agent-revisions.ts';
import { withinScope } from './agent-shares.ts';
import { DESCRIPTOR_COLUMNS, type Descriptor, describedAs, toDescriptor } from './documents.ts';

export type DeploymentStatus = 'READY' | 'ERROR';

/**
 * One version of an agent running in one environment. The status is for people: what the node noted whose verdict changed
 * last. Whether a version runs is decided by the node that runs it.
 */
export interface Deployment {
  readonly environment: Environment;
  readonly agentId: string;
  readonly agentVersion: number;
  readonly status: DeploymentStatus;
}

/** Names a deployment. */
export type DeployedVersion = Omit<Deployment, 'status'>;

/** A deployment with the words people know its agent by. */
export interface DescribedDeployment extends Deployment {
  readonly descriptor: Descriptor;
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
      compatible_from: null,
    })
    .execute();
  await noteAgentChange(db, deployment.agentId);
}

/** Adds the version to what the environment runs, or deploys it again. Every node then gives it another try. */
export async function putDeployment(
  db: Db,
  deployment: Deployment & { readonly deployedBy: string; readonly deployedAt: number },
): Promise<void> {
  const { environment, agentId, agentVersion, status, deployedBy, deployedAt } = deployment;
  const again = { status, deployed_by: deployedBy, deployed_at: deployedAt };
  await db
    .insertInto('deployments')
    .values(eb => ({
      environment,
      agent_id: agentId,
      agent_version: agentVersion,
      ...again,
      compatible_from: eb
        .selectFrom('document_versions')
        .select('compatible_from')
        .where('type', '=', 'agent')
        .where('id', '=', agentId)
        .where('version', '=', agentVersion),
    }))
    .onConflict(conflict => conflict.columns(['environment', 'agent_id', 'agent_version']).doUpdateSet(again))
    .execute();
  await noteAgentChange(db, agentId);
  publish(db, { kind: 'agent-deployed', agentId, agentVersion });
}

/** False when the environment does not run the version. */
export async function deleteDeployment(db: Db, deployment: DeployedVersion): Promise<boolean> {
  const row = await db
    .deleteFrom('deployments')
    .where('environment', '=', deployment.environment)
    .where('agent_id', '=', deployment.agentId)
    .where('agent_version', '=', deployment.agentVersion)
    .returning('agent_id')
    .executeTakeFirst();
  if (row) await noteAgentChange(db, deployment.agentId);
  return row !== undefined;
}

/** The agent runs nowhere any more. */
export async function deleteDeploymentsOf(db: Db, agentId: string): Promise<void> {
  await db.deleteFrom('deployments').where('agent_id', '=', agentId).execute();
  await noteAgentChange(db, agentId);
}

/** The earliest version whose conversations go on with this one: itself unless it was made compatible. */
export async function compatibleFrom(db: Db, deployment: DeployedVersion): Promise<number> {
  const row = await db
    .selectFrom('deployments')
    .select('compatible_from')
    .where('environment', '=', deployment.environment)
    .where('agent_id', '=', deployment.agentId)
    .where('agent_version', '=', deployment.agentVersion)
    .executeTakeFirst();
  return row?.compatible_from ?? deployment.agentVersion;
}

/** `undefined` when the environment does not run the version. */
export async function findDeploymentStatus(
  db: Db,
  deployment: DeployedVersion,
): Promise<DeploymentStatus | undefined> {
  const row = await db
    .selectFrom('deployments')
    .select('status')
    .where('environment', '=', deployment.environment)
    .where('agent_id', '=', deployment.agentId)
    .where('agent_version', '=', deployment.agentVersion)
    .executeTakeFirst();
  return row?.status as DeploymentStatus | undefined;
}

/** Writes only where the status is another one. */
export async function noteDeploymentStatus(
  db: Db,
  agent: { readonly agentId: string; readonly agentVersion: number },
  status: DeploymentStatus,
): Promise<void> {
  await db
    .updateTable('deployments')
    .set({ status })
    .where('agent_id', '=', agent.agentId)
    .where('agent_version', '=', agent.agentVersion)
    .where('status', '<>', status)
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

/** How many agents have a deployed version that cannot run, as far as it is noted. */
export async function countAgentsInError(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('deployments')
    .select(eb => eb.fn.count<number | string>('agent_id').distinct().as('count'))
    .where('status', '=', 'ERROR' satisfies DeploymentStatus)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** How many deployments there are in each environment and state. */
export async function countDeployments(
  db: Db,
): Promise<readonly (Pick<Deployment, 'environment' | 'status'> & { readonly count: number })[]> {
  const rows = await db
    .selectFrom('deployments')
    .select(['environment', 'status'])
    .select(eb => eb.fn.countAll<number | string>().as('count'))
    .groupBy(['environment', 'status'])
    .execute();
  return rows.map(({ environment, status, count }) => ({
    environment: environment as Environment,
    status: status as DeploymentStatus,
    count: Number(count),
  }));
}

/** Every deployment of these agents; of one agent and environment the latest version first. */
export async function listDeploymentsOf(db: Db, agentIds: readonly string[]): Promise<Deployment[]> {
  if (agentIds.length === 0) return [];
  const rows = await db
    .selectFrom('deployments')
    .select(['environment', 'agent_id', 'agent_version', 'status'])
    .where('agent_id', 'in', agentIds)
    .orderBy('agent_id')
    .orderBy('environment')
    .orderBy('agent_version', 'desc')
    .execute();
  return rows.map(toDeployment);
}

/** Deployed agents of one environment that are not deleted, by name; an agent's versions with the latest first. */
export async function listDeployments(
  db: Db,
  filter: {
    readonly environment: Environment;
    readonly scope: AgentScope;
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
    ])
    .select(DESCRIPTOR_COLUMNS)
    .where('deployments.environment', '=', filter.environment)
    .where('documents.deleted', '=', 0)
    .where(withinScope(filter.scope));
  if (filter.text !== undefined && filter.text !== '') query = query.where(describedAs(filter.text));
  const rows = await query
    .orderBy('documents.name')
    .orderBy('deployments.agent_id')
    .orderBy('deployments.agent_version', 'desc')
    .execute();
  return rows.map(row => ({ ...toDeployment(row), descriptor: toDescriptor(row) }));
}

/** What agents are, in the latest version deployed in an environment, by id. Only those whose body contains a text, as JSON. */
export async function listDeployedBodies(
  db: Db,
  filter: {
    readonly environment: Environment;
    readonly scope: Scope;
    readonly containing: string;
    readonly limit: number;
  },
): Promise<{ readonly agentId: string; readonly body: unknown }[]> {
  const { environment, scope, containing, limit } = filter;
  let query = db
    .selectFrom('deployments')
    .innerJoin('agents', 'agents.id', 'deployments.agent_id')
    .innerJoin('documents', join =>
      join.onRef('documents.id', '=', 'agents.id').on('documents.type', '=', 'agent'),
    )
    .innerJoin('document_versions', join =>
      join
        .onRef('document_versions.id', '=', 'agents.id')
        .on('document_versions.type', '=', 'agent')
        .onRef('document_versions.version', '=', 'deployments.agent_version'),
    )
    .select(['deployments.agent_id', 'document_versions.body'])
    .where('deployments.environment', '=', environment)
    .where('documents.deleted', '=', 0)
    .where('document_versions.body', 'like', `%${containing}%`)
    .where(eb =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('deployments as later')
            .select('later.agent_id')
            .whereRef('later.agent_id', '=', 'deployments.agent_id')
            .whereRef('later.environment', '=', 'deployments.environment')
            .whereRef('later.agent_version', '>', 'deployments.agent_version'),
        ),
      ),
    );
  if (scope.kind === 'owned') query = query.where('agents.owner_id', '=', scope.ownerId);
  const rows = await query.orderBy('deployments.agent_id').limit(limit).execute();
  return rows.map(row => ({ agentId: row.agent_id, body: JSON.parse(row.body) as unknown }));
}

function toDeployment(
  row: Pick<Schema['deployments'], 'environment' | 'agent_id' | 'agent_version' | 'status'>,
): Deployment {
  return {
    environment: row.environment as Environment,
    agentId: row.agent_id,
    agentVersion: row.agent_version,
    status: row.status as DeploymentStatus,
  };
}
