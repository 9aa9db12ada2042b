import { type DocumentRef, formatDocumentUri } from '@patchbay/contract/ids';
import type {
  discoverAgents,
  Environment,
  getAgent,
  listAgentConfigs,
  listAgents,
} from '@patchbay/contract/operations/conversation';
import type { z } from 'zod';
import { mayUseAgent, scopeOf } from '../../kernel/access.ts';
import { Fault, PlatformError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Store } from '../../store/store.ts';
import { findAgent, listAgentDescriptors } from '../../store/tables/agents.ts';
import { listAllDeployments, listDeployments, setDeploymentStatus } from '../../store/tables/deployments.ts';
import { type Descriptor, readDescriptor, readDocument } from '../../store/tables/documents.ts';
import { agentDocument } from '../document/agent.ts';
import { readDocument as readBody } from '../document/parse-document.ts';
import { agentNotFound } from '../turn/refusal.ts';
import type { StepType } from '../turn/step.ts';
import { type CompiledAgent, compileAgent } from './compiled-agent.ts';

/** Compiled agents kept; the one used least lately makes room. */
const MAX_COMPILED = 1_000;

/** What is deployed, ready to run, and what people may know of it. */
export interface Deployments {
  /**
   * The version, prepared to run. `undefined` when it cannot be compiled any more: its deployment is ERROR from then on
   * and the log says why.
   */
  compiled(agentId: string, version: number): Promise<CompiledAgent | undefined>;
  /** The version now runs in place of the ones before. */
  replaced(agent: CompiledAgent): void;
  /** Compiles whatever is deployed, and notes READY or ERROR for each. After an upgrade an agent may be either. */
  checkAll(): Promise<void>;
  listAgents(
    principal: Principal,
    request: { readonly environment: Environment },
  ): Promise<z.input<typeof listAgents.output>>;
  discoverAgents(
    principal: Principal,
    request: { readonly environment: Environment; readonly filter?: string | undefined },
  ): Promise<z.input<typeof discoverAgents.output>>;
  listAgentConfigs(
    principal: Principal,
    request: { readonly filter?: string | undefined; readonly limit: number },
  ): Promise<z.input<typeof listAgentConfigs.output>>;
  /** Version 0, or none, is the latest (E-16). Rejects alike for agents that are not there and not for this caller. */
  getAgent(
    principal: Principal,
    request: { readonly agentId: string; readonly version?: number | undefined },
  ): Promise<z.input<typeof getAgent.output>>;
}

export function createDeployments(deps: {
  readonly store: Store;
  readonly stepTypes: readonly StepType[];
  readonly logger?: Logger | undefined;
}): Deployments {
  const { store, stepTypes, logger } = deps;
  /** What is being compiled is here too, so that many first turns at once compile once. */
  const cache = new Map<string, Promise<CompiledAgent | undefined>>();

  function keep(key: string, agent: Promise<CompiledAgent | undefined>): void {
    cache.delete(key);
    if (cache.size >= MAX_COMPILED) cache.delete(cache.keys().next().value!);
    cache.set(key, agent);
  }

  async function load(ref: DocumentRef): Promise<unknown> {
    const document = await readDocument(store.db, ref.type, ref.id, ref.version);
    if (document) return document.body;
    throw new PlatformError('not_found', `${formatDocumentUri(ref)} is not there.`);
  }

  async function compile(agentId: string, version: number): Promise<CompiledAgent | undefined> {
    try {
      const body = readBody(agentDocument, await load({ type: 'agent', id: agentId, version }));
      return await compileAgent({ agentId, version, body }, load, stepTypes);
    } catch (thrown) {
      // A database that does not answer says nothing about the agent.
      if (!(thrown instanceof PlatformError || thrown instanceof Fault)) throw thrown;
      logger?.error('A deployed agent cannot be compiled', { agentId, version, error: thrown });
      return undefined;
    }
  }

  async function compileOrNoteError(agentId: string, version: number): Promise<CompiledAgent | undefined> {
    const key = cacheKey(agentId, version);
    try {
      const agent = await compile(agentId, version);
      if (agent) return agent;
      cache.delete(key);
      await store.commit(db => setDeploymentStatus(db, { agentId, agentVersion: version }, 'ERROR'));
      return undefined;
    } catch (thrown) {
      cache.delete(key);
      throw thrown;
    }
  }

  function compiled(agentId: string, version: number): Promise<CompiledAgent | undefined> {
    const key = cacheKey(agentId, version);
    const agent = cache.get(key) ?? compileOrNoteError(agentId, version);
    keep(key, agent);
    return agent;
  }

  return {
    compiled,

    replaced(agent) {
      for (const key of cache.keys()) if (key.startsWith(cacheKey(agent.agentId, ''))) cache.delete(key);
      keep(cacheKey(agent.agentId, agent.version), Promise.resolve(agent));
    },

    async checkAll() {
      for (const { agentId, agentVersion, status } of await listAllDeployments(store.db)) {
        const agent = await compiled(agentId, agentVersion);
        if (agent && status === 'ERROR') {
          await store.commit(db => setDeploymentStatus(db, { agentId, agentVersion }, 'READY'));
        }
      }
    },

    async listAgents(principal, { environment }) {
      const deployments = await listDeployments(store.db, { environment, scope: scopeOf(principal) });
      return {
        count: deployments.length,
        agents: deployments.map(({ agentId, agentVersion, status, ...described }) => ({
          environment,
          agentId,
          agentVersion,
          status,
          descriptor: toDescriptor({ ...described, id: agentId, currentVersion: agentVersion }),
        })),
      };
    },

    async discoverAgents(principal, { environment, filter }) {
      const deployments = await listDeployments(store.db, {
        environment,
        text: filter,
        scope: scopeOf(principal),
      });
      // Versions come latest first, and the latest is what a new conversation gets.
      const latest = [...new Map(deployments.toReversed().map(found => [found.agentId, found])).values()];
      const agents = latest.toReversed().map(({ agentId, name, description, agentVersion, status }) => ({
        agentId,
        name,
        description,
        version: agentVersion,
        status,
        environment,
      }));
      return { count: agents.length, agents };
    },

    async listAgentConfigs(principal, { filter, limit }) {
      const descriptors = await listAgentDescriptors(store.db, {
        scope: scopeOf(principal),
        filter,
        limit,
      });
      return { count: descriptors.length, configs: descriptors.map(toDescriptor) };
    },

    async getAgent(principal, { agentId, version }) {
      const agent = await findAgent(store.db, agentId);
      if (!agent || !mayUseAgent(principal, 'own-or-admin', agent)) {
        throw agentNotFound(agentId);
      }
      const descriptor = await readDescriptor(store.db, 'agent', agentId);
      const document = await readDocument(store.db, 'agent', agentId, version ?? 0);
      if (!descriptor) throw agentNotFound(agentId);
      if (!document) {
        throw new PlatformError(
          'not_found',
          `version: agent "${agentId}" has no version ${version}; the latest is ${descriptor.currentVersion}.`,
        );
      }
      return {
        agentId,
        version: document.version,
        name: descriptor.name,
        description: descriptor.description,
        configuration: document.body as Record<string, unknown>,
      };
    },
  };
}

/** No agent id has an `@` in it. */
function cacheKey(agentId: string, version: number | ''): string {
  return `${agentId}@${version}`;
}

function toDescriptor(
  agent: Pick<
    Descriptor,
    'id' | 'currentVersion' | 'name' | 'description' | 'createdBy' | 'createdAt' | 'modifiedBy' | 'modifiedAt'
  >,
): z.input<typeof listAgentConfigs.output>['configs'][number] {
  return {
    resource: formatDocumentUri({ type: 'agent', id: agent.id, version: agent.currentVersion }),
    name: agent.name,
    description: agent.description,
    createdBy: agent.createdBy,
    createdOn: agent.createdAt,
    lastModifiedBy: agent.modifiedBy,
    lastModifiedOn: agent.modifiedAt,
  };
}
