import type { Environment } from '@patchbay/contract/environments';
import type { Db } from '../../store/store.ts';
import { type AgentSituation, readAgentSituation } from '../../store/tables/agent-situations.ts';

const MAX_KNOWN = 2_000;

/** What is known of agents: read once for each revision, so that a turn asks for the revision and nothing else. */
export interface AgentSituations {
  /** `undefined` for an agent that is deleted. */
  read(db: Db, agentId: string, revision: number): Promise<AgentSituation | undefined>;
}

export function createAgentSituations(): AgentSituations {
  const known = new Map<
    string,
    { readonly revision: number; readonly situation: AgentSituation | undefined }
  >();
  return {
    async read(db, agentId, revision) {
      const last = known.get(agentId);
      if (last?.revision === revision) return last.situation;
      const situation = await readAgentSituation(db, agentId);
      known.delete(agentId);
      if (known.size >= MAX_KNOWN) known.delete(known.keys().next().value!);
      known.set(agentId, { revision, situation });
      return situation;
    },
  };
}

/** The version a new conversation gets; `undefined` when the environment runs none. */
export function latestVersion(agent: AgentSituation, environment: Environment): number | undefined {
  return max(agent.deployed.filter(deployed => deployed.environment === environment));
}

/** The version that goes on with a conversation: a later one that is compatible with it, or its own. */
export function followingVersion(
  agent: AgentSituation,
  { environment, agentVersion }: { readonly environment: Environment; readonly agentVersion: number },
): number {
  const later = agent.deployed.filter(
    ({ environment: where, version, compatibleFrom }) =>
      where === environment &&
      version > agentVersion &&
      compatibleFrom !== undefined &&
      compatibleFrom <= agentVersion,
  );
  return max(later) ?? agentVersion;
}

function max(deployed: AgentSituation['deployed']): number | undefined {
  return deployed.length === 0 ? undefined : Math.max(...deployed.map(({ version }) => version));
}
