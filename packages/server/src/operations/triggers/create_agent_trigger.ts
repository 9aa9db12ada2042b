import type { Triggers } from '../../agents/trigger/triggers.ts';
import type { OperationHandler } from '../bind.ts';
import { parseJsonArgument } from '../json-argument.ts';

export function createAgentTrigger(triggers: Triggers): OperationHandler<'create_agent_trigger'> {
  return async ({ config }, { principal }) => {
    const intent = await triggers.create(principal, parseJsonArgument('config', config));
    return { intent, status: 201, action: 'created' };
  };
}
