import type { Task } from '../../agents/delivery/tasks.ts';

/** A task as REST shows it. */
export function taskInfo(task: Task) {
  const { result, conversationId, contextId } = task;
  const context = conversationId ?? contextId;
  return {
    task_id: task.id,
    agent_id: task.agentId,
    status: task.status,
    ...(context !== undefined && { context_id: context }),
    ...(result && 'text' in result && { result }),
    ...(result && 'error' in result && { error: result.error }),
    ...(result && 'waitsFor' in result && { input_required: result.waitsFor }),
    ...(task.reason !== undefined && { cancel_reason: task.reason }),
    created_at: task.createdAt,
    ...(task.startedAt !== undefined && { started_at: task.startedAt }),
    ...(task.endedAt !== undefined && { ended_at: task.endedAt }),
    deadline: task.deadlineAt,
  };
}
