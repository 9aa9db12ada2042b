import type { Triggers } from '../../agents/trigger/triggers.ts';
import type { OperationHandler } from '../bind.ts';
import { parseJsonArgument } from '../json-argument.ts';

export function updateAgentTrigger(triggers: Triggers): OperationHandler<'update_agent_trigger'> {
  return async ({ intent, config }, { principal }) => {
    await triggers.update(principal, intent, parseJsonArgument('config', config));
    return { intent, status: 200, action: 'updated' };
  };
}
