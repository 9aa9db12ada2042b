import type { Tasks } from '../../agents/delivery/tasks.ts';
import type { OperationHandler } from '../bind.ts';
import { taskInfo } from './task-info.ts';

export function continueTask(tasks: Tasks): OperationHandler<'continue_task'> {
  return async ({ task_id, input }, { principal }) =>
    taskInfo(await tasks.continue(principal, task_id, input));
}
