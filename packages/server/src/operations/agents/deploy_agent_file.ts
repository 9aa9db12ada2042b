import { formatDocumentUri } from '@patchbay/contract/ids';
import type { AgentFiles } from '../../agents/deployment/agent-files.ts';
import type { OperationHandler } from '../bind.ts';

export function deployAgentFile(agentFiles: AgentFiles): OperationHandler<'deploy_agent_file'> {
  return async ({ file }, { principal }) => {
    const { documents, ...deployed } = await agentFiles.deploy(principal, file);
    return {
      ...deployed,
      // What does not compile is not deployed.
      status: 'READY',
      documents: documents.map(({ changed, ...ref }) => ({ resource: formatDocumentUri(ref), changed })),
    };
  };
}
