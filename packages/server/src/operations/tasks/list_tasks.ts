import type { Tasks } from '../../agents/delivery/tasks.ts';
import type { OperationHandler } from '../bind.ts';
import { taskInfo } from './task-info.ts';

export function listTasks(tasks: Tasks): OperationHandler<'list_tasks'> {
  return async (input, { principal }) => {
    const found = await tasks.list(principal, input);
    return { count: found.length, tasks: found.map(taskInfo) };
  };
}
