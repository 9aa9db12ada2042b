import type { Environment } from '@patchbay/contract/environments';
import { scopeOfAgent } from '../../kernel/access.ts';
import type { Store } from '../../store/store.ts';
import { findAgentOwner } from '../../store/tables/agents.ts';
import { listDeployedBodies } from '../../store/tables/deployments.ts';
import { capabilitiesIn } from '../document/agent.ts';
import type { CapableAgent } from '../step/step.ts';

/** More agents of one owner are not looked through in a turn. */
const MAX_AGENTS = 1_000;

export interface Capabilities {
  /**
   * The agents deployed in the environment of the one that asks, itself too, that say they have a skill, in any case; by id. Only
   * those it may find: see `scopeOfAgent`.
   */
  find(
    skill: string,
    asking: { readonly agentId: string; readonly environment: Environment },
  ): Promise<readonly CapableAgent[]>;
}

export function createCapabilities({ store }: { readonly store: Store }): Capabilities {
  return {
    async find(skill, { agentId, environment }) {
      const ownerId = await findAgentOwner(store.db, agentId);
      if (ownerId === undefined) return [];
      const bodies = await listDeployedBodies(store.db, {
        environment,
        scope: scopeOfAgent({ ownerId }),
        containing: '"capabilities"',
        limit: MAX_AGENTS,
      });
      const wanted = skill.toLowerCase();
      return bodies.flatMap(({ agentId: id, body }) =>
        capabilitiesIn(body)
          .filter(capability => capability.skill.toLowerCase() === wanted)
          .slice(0, 1)
          .map(({ confidence }) => ({ agentId: id, confidence })),
      );
    },
  };
}
