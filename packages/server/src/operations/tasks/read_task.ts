import type { Tasks } from '../../agents/delivery/tasks.ts';
import type { OperationHandler } from '../bind.ts';
import { taskInfo } from './task-info.ts';

export function readTask(tasks: Tasks): OperationHandler<'read_task'> {
  return async ({ task_id }, { principal }) => taskInfo(await tasks.read(principal, task_id));
}
