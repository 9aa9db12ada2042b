import type { Environment } from '@patchbay/contract/environments';
import type { Clock } from '../../kernel/clock.ts';
import { Fault, PlatformError, toPlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { References } from '../../secrets/references.ts';
import type { Store } from '../../store/store.ts';
import { lockAgent } from '../../store/tables/agents.ts';
import {
  endActiveConversations,
  hasActiveConversations,
  hasTurnsAtWork,
} from '../../store/tables/conversations.ts';
import {
  compatibleFrom,
  type DeploymentStatus,
  deleteDeployment,
  findDeploymentStatus,
  putDeployment,
} from '../../store/tables/deployments.ts';
import { readDescriptor, readDocument } from '../../store/tables/documents.ts';
import { agentDocument } from '../document/agent.ts';
import { parseStored } from '../document/parse-document.ts';
import type { LoadDocument, StepType } from '../step/step.ts';
import { agentNotFound } from './agent-not-found.ts';
import { compileAgent } from './compiled-agent.ts';
import { loadFor, requireDocument } from './reach.ts';

/** A version of an agent in an environment; version 0 is the latest there is. */
export interface WantedDeployment {
  readonly agentId: string;
  readonly version: number;
  readonly environment: Environment;
}

/** Why nothing was undeployed. */
export type UndeployRefusal = 'has-conversations' | 'has-turns-at-work';

/**
 * Decides which versions of an agent run where, for its owner and admins. Rejects alike, with `agent_not_found`, for agents
 * that are not there and agents of others; with `not_found` for a version that is not there. Answers name the version.
 */
export interface Deployer {
  /**
   * Adds the version to what runs in the environment. One that does not compile with what this caller may use changes nothing;
   * `error` is a sentence for the caller.
   */
  deploy(
    principal: Principal,
    wanted: WantedDeployment,
  ): Promise<{ readonly version: number; readonly error?: string }>;
  /**
   * Takes the version out of the environment. Refused while conversations run with it, or are to go on with it, unless they are to be ended: those that
   * wait for a person, or can go on with a later version there, do not count. Refused also then while a turn is at work in the
   * world, with calls to servers: it is over within its time limit.
   */
  undeploy(
    principal: Principal,
    wanted: WantedDeployment & { readonly endConversations: boolean },
  ): Promise<{ readonly version: number; readonly outcome: 'undeployed' | UndeployRefusal }>;
  status(
    principal: Principal,
    wanted: WantedDeployment,
  ): Promise<{ readonly version: number; readonly status: DeploymentStatus | 'NOT_FOUND' }>;
}

export function createDeployer(deps: {
  readonly store: Store;
  readonly stepTypes: readonly StepType[];
  /** Secrets the agent may not have are a reason not to deploy it. */
  readonly references: Pick<References, 'checkDeployment'>;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
}): Deployer {
  const { store, stepTypes, references, clock, logger } = deps;

  async function versionOf(principal: Principal, { agentId, version }: WantedDeployment): Promise<number> {
    await requireDocument(store.db, principal, { type: 'agent', id: agentId });
    const descriptor = await readDescriptor(store.db, 'agent', agentId);
    if (!descriptor) throw agentNotFound(agentId);
    return version === 0 ? descriptor.currentVersion : version;
  }

  /** Why the version cannot run; `undefined` when it can. */
  async function problemOf(
    principal: Principal,
    agentId: string,
    version: number,
  ): Promise<string | undefined> {
    const document = await readDocument(store.db, 'agent', agentId, version);
    if (!document) {
      throw new PlatformError('not_found', `version: agent "${agentId}" has no version ${version}.`);
    }
    try {
      const body = parseStored(agentDocument, document.body);
      const load = loadFor(store.db, principal);
      const bodies: unknown[] = [body];
      const loadAndNote: LoadDocument = async ref => {
        const loaded = await load(ref);
        bodies.push(loaded);
        return loaded;
      };
      await compileAgent({ agentId, version, body }, loadAndNote, stepTypes);
      await references.checkDeployment(agentId, bodies);
      return undefined;
    } catch (thrown) {
      if (!(thrown instanceof PlatformError || thrown instanceof Fault)) throw thrown;
      logger?.warn('An agent was not deployed', { agentId, version, error: thrown });
      return toPlatformError(thrown, 'Deploying the agent').message;
    }
  }

  return {
    async deploy(principal, wanted) {
      const { agentId, environment } = wanted;
      const version = await versionOf(principal, wanted);
      const error = await problemOf(principal, agentId, version);
      if (error !== undefined) return { version, error };
      await store.commit(async db => {
        await lockAgent(db, agentId);
        if (!(await readDescriptor(db, 'agent', agentId))) throw agentNotFound(agentId);
        await putDeployment(db, {
          environment,
          agentId,
          agentVersion: version,
          status: 'READY',
          deployedBy: principal.id,
          deployedAt: clock.now(),
        });
      });
      return { version };
    },

    async undeploy(principal, wanted) {
      const { agentId, environment, endConversations } = wanted;
      const version = await versionOf(principal, wanted);
      const deployment = { environment, agentId, agentVersion: version };
      let relying = { ...deployment, since: version };
      let allEnded = true;
      const outcome = await store.commit(async db => {
        await lockAgent(db, agentId);
        allEnded = true;
        relying = { ...relying, since: await compatibleFrom(db, deployment) };
        if (!endConversations && (await hasActiveConversations(db, relying))) return 'has-conversations';
        if (await hasTurnsAtWork(db, relying)) return 'has-turns-at-work';
        allEnded = await endActiveConversations(db, relying, clock.now());
        if (await deleteDeployment(db, deployment)) return 'undeployed';
        throw new PlatformError(
          'not_found',
          `version: version ${version} of agent "${agentId}" is not deployed in ${environment}.`,
        );
      });
      // No conversation begins with it any more; those that are left are ended in parts.
      while (!allEnded) {
        allEnded = await store.commit(db => endActiveConversations(db, relying, clock.now()));
      }
      return { version, outcome };
    },

    async status(principal, wanted) {
      const version = await versionOf(principal, wanted);
      const { agentId, environment } = wanted;
      const status = await findDeploymentStatus(store.db, { environment, agentId, agentVersion: version });
      return { version, status: status ?? 'NOT_FOUND' };
    },
  };
}
