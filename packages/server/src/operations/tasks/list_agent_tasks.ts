import type { Tasks } from '../../agents/delivery/tasks.ts';
import type { OperationHandler } from '../bind.ts';
import { taskInfo } from './task-info.ts';

export function listAgentTasks(tasks: Tasks): OperationHandler<'list_agent_tasks'> {
  return async (input, { principal }) => {
    const found = await tasks.list(principal, input);
    return { count: found.length, tasks: found.map(taskInfo) };
  };
}
