import type { Tasks } from '../../agents/delivery/tasks.ts';
import type { OperationHandler } from '../bind.ts';
import { taskInfo } from './task-info.ts';

export function cancelTask(tasks: Tasks): OperationHandler<'cancel_task'> {
  return async ({ task_id, reason }, { principal }) =>
    taskInfo(await tasks.cancel(principal, task_id, reason));
}
