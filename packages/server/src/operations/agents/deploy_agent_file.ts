import type { AgentFiles } from '../../agents/deployment/agent-files.ts';
import type { OperationHandler } from '../bind.ts';

export function deployAgentFile(agentFiles: AgentFiles): OperationHandler<'deploy_agent_file'> {
  return ({ file }, { principal }) => agentFiles.deploy(principal, file);
}
