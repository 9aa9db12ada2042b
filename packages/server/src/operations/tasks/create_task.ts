import type { Tasks } from '../../agents/delivery/tasks.ts';
import type { OperationHandler } from '../bind.ts';
import { taskInfo } from './task-info.ts';

export function createTask(tasks: Tasks): OperationHandler<'create_task'> {
  return async (input, { principal }) => {
    const task = await tasks.create({
      principal,
      agentId: input.agentId,
      message: input.message,
      contextId: input.context_id,
      idempotencyKey: input.idempotency_key,
      attachments: input.attachments?.map(({ file_id }) => file_id),
      metadata: input.metadata,
      deadlineMs: input.deadline_ms,
    });
    return taskInfo(task);
  };
}
