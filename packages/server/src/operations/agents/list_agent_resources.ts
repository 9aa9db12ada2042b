import { formatDocumentUri } from '@patchbay/contract/ids';
import { resourceTypeOf } from '@patchbay/contract/resource-types';
import type { ListInventory, UsedDocument } from '../../agents/configuration/inventory.ts';
import type { OperationHandler } from '../bind.ts';

export function listAgentResources(list: ListInventory): OperationHandler<'list_agent_resources'> {
  return async (input, { principal }) => {
    const { agentId, agentVersion, agentName, workflows } = await list(principal, input);
    return {
      agentId,
      agentVersion,
      agentName,
      workflowCount: workflows.length,
      workflows: workflows.map(({ workflow, uses, error }) => ({
        workflowId: workflow.id,
        workflowVersion: workflow.version,
        workflowUri: formatDocumentUri(workflow),
        extensions: uses.map(shownUse),
        extensionCount: uses.length,
        ...(error !== undefined && { error }),
      })),
    };
  };
}

function shownUse({ type, document }: UsedDocument) {
  if (!document) return { type };
  return {
    type,
    resourceType: resourceTypeOf(document.type) ?? document.type,
    resourceUri: formatDocumentUri(document),
    resourceId: document.id,
    resourceVersion: document.version,
  };
}
