import type { Environment } from '@patchbay/contract/environments';
import { agentScopeOf, mayChangeAgent, mayUseAgent, scopeOf } from '../../kernel/access.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Store } from '../../store/store.ts';
import { type DescribedAgent, findAgent, listAgents, setAgentMcpEnabled } from '../../store/tables/agents.ts';
import { type Deployment, listDeploymentsOf } from '../../store/tables/deployments.ts';
import { agentNotFound } from './agent-not-found.ts';

/** STOPPED: not deployed. ERROR: deployed in a form that cannot run. */
export type InstanceState = 'RUNNING' | 'STOPPED' | 'ERROR';

/** An agent in one environment, whatever version runs there (B-82). */
export interface Instance {
  readonly instanceId: string;
  readonly agentId: string;
  readonly name: string;
  readonly environment: Environment;
  /** The version new conversations get; `undefined` while none is deployed. */
  readonly version: number | undefined;
  readonly state: InstanceState;
}

/** An agent with its instance in production. */
export interface OwnAgent extends DescribedAgent {
  readonly instanceId: string;
  readonly version: number | undefined;
  readonly state: InstanceState;
}

/**
 * Agents as their owners manage them beside the agent door, and as those find them whom they are shared with; an admin reaches everybody's. Rejects alike, with
 * `agent_not_found`, for agents that are not there and not for this caller.
 */
export interface OwnAgents {
  /** Deployed or not, by id. */
  list(
    principal: Principal,
    page: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<OwnAgent[]>;
  read(principal: Principal, agentId: string): Promise<OwnAgent>;
  change(principal: Principal, agentId: string, change: { readonly mcpEnabled: boolean }): Promise<OwnAgent>;
  /** By agent and environment: where they are deployed, and in production where they are not. */
  instances(principal: Principal): Promise<Instance[]>;
}

/** Instances are listed whole: no installation comes near it. */
const MAX_INSTANCES = 10_000;
const ENVIRONMENT: Environment = 'production';

export function createOwnAgents({ store }: { readonly store: Store }): OwnAgents {
  const { db } = store;

  async function withInstances(agents: readonly DescribedAgent[]): Promise<[DescribedAgent, Instance[]][]> {
    const deployed = Map.groupBy(
      await listDeploymentsOf(
        db,
        agents.map(({ id }) => id),
      ),
      ({ agentId }) => agentId,
    );
    return agents.map(agent => [agent, instancesOf(agent, deployed.get(agent.id) ?? [])]);
  }

  async function described(agents: readonly DescribedAgent[]): Promise<OwnAgent[]> {
    return (await withInstances(agents)).map(([agent, instances]) => {
      const { instanceId, version, state } = instances.find(
        ({ environment }) => environment === ENVIRONMENT,
      )!;
      return { ...agent, instanceId, version, state };
    });
  }

  return {
    list: async (principal, page) =>
      described(await listAgents(db, { scope: agentScopeOf(principal), ...page })),

    async read(principal, agentId) {
      const agent = await findAgent(db, agentId);
      if (!agent || !mayUseAgent(principal, 'own-or-admin', agent)) throw agentNotFound(agentId);
      return (await described([agent]))[0]!;
    },

    async change(principal, agentId, { mcpEnabled }) {
      const changed = await store.commit(async unit => {
        const agent = await findAgent(unit, agentId);
        if (!agent || !mayChangeAgent(principal, agent)) throw agentNotFound(agentId);
        if (agent.mcpEnabled !== mcpEnabled) await setAgentMcpEnabled(unit, agentId, mcpEnabled);
        return { ...agent, mcpEnabled };
      });
      return (await described([changed]))[0]!;
    },

    async instances(principal) {
      const agents = await listAgents(db, { scope: scopeOf(principal), limit: MAX_INSTANCES });
      return (await withInstances(agents)).flatMap(([, instances]) => instances);
    },
  };
}

/** Each environment once, with the version a new conversation gets; production always. */
function instancesOf(agent: DescribedAgent, deployed: readonly Deployment[]): Instance[] {
  const instance = (environment: Environment, running: Deployment | undefined): Instance => ({
    instanceId: `${agent.id}:${environment}`,
    agentId: agent.id,
    name: agent.name,
    environment,
    version: running?.agentVersion,
    state: running === undefined ? 'STOPPED' : running.status === 'READY' ? 'RUNNING' : 'ERROR',
  });
  const environments = new Set([ENVIRONMENT, ...deployed.map(({ environment }) => environment)]);
  return [...environments].map(environment =>
    instance(
      environment,
      deployed.find(row => row.environment === environment),
    ),
  );
}
