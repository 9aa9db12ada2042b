import type { OwnAgents } from '../../agents/deployment/own-agents.ts';
import type { OperationHandler } from '../bind.ts';
import { ownAgent } from './own-agent.ts';

export function readOwnAgent(ownAgents: OwnAgents): OperationHandler<'read_own_agent'> {
  return async ({ agentId }, { principal }) => ownAgent(await ownAgents.read(principal, agentId), principal);
}
