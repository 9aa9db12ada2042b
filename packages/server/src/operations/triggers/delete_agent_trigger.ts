import type { Triggers } from '../../agents/trigger/triggers.ts';
import type { OperationHandler } from '../bind.ts';

export function deleteAgentTrigger(triggers: Triggers): OperationHandler<'delete_agent_trigger'> {
  return async ({ intent }, { principal }) => {
    await triggers.delete(principal, intent);
    return { intent, status: 200, action: 'deleted' };
  };
}
