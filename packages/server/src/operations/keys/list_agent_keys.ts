import type { Keys } from '../../auth/key/keys.ts';
import type { OperationHandler } from '../bind.ts';
import { keyInfo } from './key-info.ts';

export function listAgentKeys(keys: Keys): OperationHandler<'list_agent_keys'> {
  return async ({ agentId }, { principal }) => {
    const records = await keys.listOfAgent(principal, agentId);
    return { count: records.length, keys: records.map(keyInfo) };
  };
}
