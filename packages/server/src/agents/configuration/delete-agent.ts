import { parseDocumentUri } from '@patchbay/contract/ids';
import type { Clock } from '../../kernel/clock.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Db, Store } from '../../store/store.ts';
import { deleteShares } from '../../store/tables/agent-shares.ts';
import { lockAgent } from '../../store/tables/agents.ts';
import { deleteDeploymentsOf } from '../../store/tables/deployments.ts';
import {
  type DocumentName,
  deleteDocument,
  findHolders,
  listBodies,
  readDescriptor,
} from '../../store/tables/documents.ts';
import { reachesDocument, requireDocument } from '../deployment/reach.ts';
import { agentDocument } from '../document/agent.ts';
import { parseStored } from '../document/parse-document.ts';
import { referencesOf, workflowDocument } from '../document/workflow.ts';

export interface AgentDeletion {
  readonly agentId: string;
  /** 0 means whatever is current. */
  readonly expectedVersion: number;
  /** Removes every version; otherwise they stay readable by number. */
  readonly permanent: boolean;
  /** Also what only this agent is made of. */
  readonly cascade: boolean;
}

/**
 * Undeploys an agent everywhere and deletes it with its shares, all in one. What goes with it in a cascade is what the caller may use and
 * nothing else that is there names, in any version. Rejects as `Documents.delete`.
 */
export type DeleteAgent = (
  principal: Principal,
  deletion: AgentDeletion,
) => Promise<{
  /** The one that was current. */
  readonly version: number;
  readonly alsoDeleted: readonly DocumentName[];
}>;

export function createDeleteAgent(deps: { readonly store: Store; readonly clock: Clock }): DeleteAgent {
  const { store, clock } = deps;
  return async (principal, { agentId, expectedVersion, permanent, cascade }) => {
    const agent = { type: 'agent', id: agentId } as const;
    await requireDocument(store.db, principal, agent);
    return store.commit(async db => {
      await lockAgent(db, agentId);
      const workflows = cascade ? await workflowsOf(db, agentId) : [];
      const resources: DocumentName[] = [];
      for (const { id } of workflows) resources.push(...(await resourcesOf(db, id)));
      const how = { permanent, by: principal.id, at: clock.now() };
      await deleteDeploymentsOf(db, agentId);
      await deleteShares(db, agentId);
      const version = await deleteDocument(db, { ...agent, ...how, expectedVersion });

      const candidates = distinct([...workflows, ...resources]);
      const holders = await findHolders(db, candidates);
      const alsoDeleted: DocumentName[] = [];
      // Workflows come first: what only they name is free when they are gone.
      const gone = new Set<string>();
      for (const name of candidates) {
        const stillNamed = [...(holders.get(keyOf(name)) ?? [])].some(holder => !gone.has(holder));
        const isThere = (await readDescriptor(db, name.type, name.id)) !== undefined;
        if (stillNamed || !isThere || !(await reachesDocument(db, principal, name))) continue;
        await deleteDocument(db, { ...name, ...how, expectedVersion: 0 });
        gone.add(keyOf(name));
        alsoDeleted.push(name);
      }
      return { version, alsoDeleted };
    });
  };
}

/** The workflows any version of the agent has named. */
async function workflowsOf(db: Db, agentId: string): Promise<DocumentName[]> {
  const bodies = await listBodies(db, 'agent', agentId);
  return distinct(
    bodies.flatMap(body => parseStored(agentDocument, body).workflows).map(uri => parseDocumentUri(uri)!),
  );
}

/** The documents any version of the workflow has named. */
async function resourcesOf(db: Db, workflowId: string): Promise<DocumentName[]> {
  const bodies = await listBodies(db, 'workflow', workflowId);
  return bodies
    .flatMap(body => parseStored(workflowDocument, body).workflowSteps)
    .flatMap(step => referencesOf(step));
}

function keyOf({ type, id }: DocumentName): string {
  return `${type}/${id}`;
}

function distinct(names: readonly DocumentName[]): DocumentName[] {
  return [...new Map(names.map(({ type, id }) => [keyOf({ type, id }), { type, id }])).values()];
}
