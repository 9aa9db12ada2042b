import type { MessageReader } from '../../agents/delivery/message-reader.ts';
import type { Tasks } from '../../agents/delivery/tasks.ts';
import type { OperationHandler } from '../bind.ts';
import { messagePage } from '../message-page.ts';

export function listTaskMessages(
  tasks: Tasks,
  reader: MessageReader,
): OperationHandler<'list_task_messages'> {
  return async ({ task_id, ...page }, { principal }) => {
    const { logId } = await tasks.read(principal, task_id);
    return messagePage(reader, logId, page);
  };
}
