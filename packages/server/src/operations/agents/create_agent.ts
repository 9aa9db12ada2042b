import { formatDocumentUri } from '@patchbay/contract/ids';
import type { Documents } from '../../agents/configuration/documents.ts';
import type { OperationHandler } from '../bind.ts';

export function createAgent(documents: Documents): OperationHandler<'create_agent'> {
  return async ({ name, description, workflowUris = '' }, { principal }) => {
    const workflows = workflowUris
      .split(',')
      .map(uri => uri.trim())
      .filter(uri => uri !== '');
    const agent = await documents.create(principal, {
      type: 'agent',
      name,
      description,
      body: { workflows },
    });
    const { id, currentVersion: version } = agent;
    return {
      agentId: id,
      name: agent.name,
      description: agent.description,
      location: formatDocumentUri({ type: 'agent', id, version }),
      status: 201,
      action: 'created',
    };
  };
}
