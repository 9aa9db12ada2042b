import type { OwnAgents } from '../../agents/deployment/own-agents.ts';
import type { OperationHandler } from '../bind.ts';
import { ownAgent } from './own-agent.ts';

export function listOwnAgents(ownAgents: OwnAgents): OperationHandler<'list_own_agents'> {
  return async (input, { principal }) => {
    const found = await ownAgents.list(principal, input);
    return { count: found.length, agents: found.map(agent => ownAgent(agent, principal)) };
  };
}
