import { type DocumentRef, parseDocumentUri } from '@patchbay/contract/ids';
import { toPlatformError } from '../../kernel/errors.ts';
import type { Principal } from '../../kernel/principal.ts';
import type { Store } from '../../store/store.ts';
import type { Catalogue } from '../deployment/catalogue.ts';
import { loadFor } from '../deployment/reach.ts';
import { agentDocument } from '../document/agent.ts';
import { llmDocument } from '../document/llm.ts';
import { namedBy } from '../document/named-by.ts';
import { parseStored } from '../document/parse-document.ts';
import { referencesOf, workflowDocument } from '../document/workflow.ts';
import type { LoadDocument } from '../step/step.ts';

/** A step of a workflow, once for each document it names, and for each that one names. */
export interface UsedDocument {
  /** Type of the step. */
  readonly type: string;
  /** `undefined` for a step that names none. */
  readonly document: DocumentRef | undefined;
}

export interface WorkflowInventory {
  readonly workflow: DocumentRef;
  readonly uses: readonly UsedDocument[];
  /** Why the workflow could not be read; the others are listed all the same. */
  readonly error?: string;
}

/** Everything one version of an agent is made of. */
export interface AgentInventory {
  readonly agentId: string;
  readonly agentVersion: number;
  readonly agentName: string;
  readonly workflows: readonly WorkflowInventory[];
}

/** Lists what an agent is made of; rejects as `Catalogue.getConfiguration`. */
export type ListInventory = (
  principal: Principal,
  request: { readonly agentId: string; readonly version?: number | undefined },
) => Promise<AgentInventory>;

export function createInventory(deps: {
  readonly store: Store;
  readonly catalogue: Catalogue;
}): ListInventory {
  const { store, catalogue } = deps;
  return async (principal, request) => {
    const { descriptor, document } = await catalogue.getConfiguration(principal, request);
    const load = loadFor(store.db, principal);
    const { workflows } = parseStored(agentDocument, document.body);
    // Agent documents keep references in our form.
    const references = workflows.map(uri => parseDocumentUri(uri)!);
    return {
      agentId: document.id,
      agentVersion: document.version,
      agentName: descriptor.name,
      workflows: await Promise.all(
        references.map(async (workflow): Promise<WorkflowInventory> => {
          try {
            const { workflowSteps } = parseStored(workflowDocument, await load(workflow));
            return { workflow, uses: (await Promise.all(workflowSteps.map(usesOf(load)))).flat() };
          } catch (thrown) {
            return { workflow, uses: [], error: toPlatformError(thrown, 'Reading the workflow').message };
          }
        }),
      ),
    };
  };
}

function usesOf(load: LoadDocument) {
  return async (step: Parameters<typeof referencesOf>[0]): Promise<UsedDocument[]> => {
    const direct = referencesOf(step);
    if (direct.length === 0) return [{ type: step.type, document: undefined }];
    const references: DocumentRef[] = [];
    for (const ref of direct) {
      const { type } = ref;
      references.push(ref);
      if (type === 'llm')
        references.push(...namedBy({ type, body: parseStored(llmDocument, await load(ref)) }));
    }
    return references.map(document => ({ type: step.type, document }));
  };
}
