import { formatDocumentUri } from '@patchbay/contract/ids';
import type { AgentDescriptor } from '../../agents/deployment/catalogue.ts';

/** How lists describe an agent: by its latest version, or by the one that is named. */
export function agentDescriptor(agent: AgentDescriptor, version = agent.currentVersion) {
  return {
    resource: formatDocumentUri({ type: 'agent', id: agent.id, version }),
    name: agent.name,
    description: agent.description,
    createdBy: agent.createdBy,
    createdOn: agent.createdAt,
    lastModifiedBy: agent.modifiedBy,
    lastModifiedOn: agent.modifiedAt,
  };
}
