import type { MessageReader } from '../../agents/delivery/message-reader.ts';
import type { Tasks } from '../../agents/delivery/tasks.ts';
import type { OperationHandler } from '../bind.ts';
import { watchLog } from '../message-page.ts';

export function watchTask(tasks: Tasks, reader: MessageReader): OperationHandler<'watch_task'> {
  return async ({ task_id, since }, call) => {
    const { logId } = await tasks.read(call.principal, task_id);
    const isOver = async () => (await tasks.read(call.principal, task_id)).endedAt !== undefined;
    return watchLog(reader, { id: logId, since, isOver, over: 'task_terminal' }, call);
  };
}
