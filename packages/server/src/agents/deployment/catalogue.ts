import type { Environment } from '@patchbay/contract/environments';
import { agentScopeOf, mayReadConfiguration, scopeOf } from '../../kernel/access.ts';
import { PlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Store } from '../../store/store.ts';
import { findAgent, listAgentDescriptors } from '../../store/tables/agents.ts';
import { type DescribedDeployment, listDeployments } from '../../store/tables/deployments.ts';
import {
  type Descriptor,
  type Document,
  readDescriptor,
  readDocument,
} from '../../store/tables/documents.ts';
import { agentNotFound } from './agent-not-found.ts';

/** The words people and models know an agent by, and who wrote them. */
export type AgentDescriptor = Descriptor;

/** One version of what an agent is made of. */
export interface AgentConfiguration {
  readonly descriptor: AgentDescriptor;
  readonly document: Document;
}

/** What people may know of agents: `discover` finds those they may use, the others those they may change. */
export interface Catalogue {
  /** By name; of one agent the latest version first. The status is what the node that compiled it last has noted. */
  listDeployed(
    principal: Principal,
    request: { readonly environment: Environment },
  ): Promise<DescribedDeployment[]>;
  /** By name; of each agent the version a new conversation gets. `filter` as in `listConfigurations`. */
  discover(
    principal: Principal,
    request: { readonly environment: Environment; readonly filter?: string | undefined },
  ): Promise<DescribedDeployment[]>;
  /** Deployed or not, last changed first; `filter` is contained in name or description, whatever the case of the letters. */
  listConfigurations(
    principal: Principal,
    request: { readonly filter?: string | undefined; readonly limit: number },
  ): Promise<AgentDescriptor[]>;
  /**
   * Version 0, or none, is the latest (E-16). Rejects alike, with `agent_not_found`, for agents that are not there and not
   * for this caller; with `not_found` for a version that is not there.
   */
  getConfiguration(
    principal: Principal,
    request: { readonly agentId: string; readonly version?: number | undefined },
  ): Promise<AgentConfiguration>;
}

export function createCatalogue({ store: { db } }: { readonly store: Store }): Catalogue {
  return {
    listDeployed: (principal, { environment }) =>
      listDeployments(db, { environment, scope: scopeOf(principal) }),

    async discover(principal, { environment, filter }) {
      const scope = agentScopeOf(principal);
      const deployed = await listDeployments(db, { environment, text: filter, scope });
      return deployed.filter(({ agentId }, at) => agentId !== deployed[at - 1]?.agentId);
    },

    listConfigurations: (principal, { filter, limit }) =>
      listAgentDescriptors(db, { scope: scopeOf(principal), filter, limit }),

    async getConfiguration(principal, { agentId, version }) {
      const agent = await findAgent(db, agentId);
      const descriptor = await readDescriptor(db, 'agent', agentId);
      if (!agent || !descriptor || !mayReadConfiguration(principal, agent)) {
        throw agentNotFound(agentId);
      }
      const document = await readDocument(db, 'agent', agentId, version);
      if (!document) {
        throw new PlatformError(
          'not_found',
          `version: agent "${agentId}" has no version ${version}; the latest is ${descriptor.currentVersion}.`,
        );
      }
      return { descriptor, document };
    },
  };
}
