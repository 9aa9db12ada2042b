import type { ErrorKind } from '@patchbay/contract/errors';
import type { TaskState } from '@patchbay/contract/operations/tasks';
import type { Delivery, DeliveryState, EndState } from '../../store/tables/deliveries.ts';

const WORDS: Readonly<Record<DeliveryState, TaskState>> = {
  queued: 'queued',
  running: 'running',
  waiting: 'input_required',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'canceled',
  timeout: 'timeout',
  rejected: 'rejected',
};

/** The one place that says what a task's state is called outside (BX-20, BX-40). One past its deadline has timed out, also before that is noted. */
export function taskStateOf(
  delivery: Pick<Delivery, 'state' | 'endedAt' | 'deadlineAt'>,
  now: number,
): TaskState {
  const isOver = delivery.endedAt === undefined && delivery.deadlineAt <= now;
  return WORDS[isOver ? 'timeout' : delivery.state];
}

/** How a delivery ends whose turn failed in this way (BX-30). */
export function endStateOf(kind: ErrorKind): Exclude<EndState, 'completed'> {
  switch (kind) {
    case 'timeout':
      return 'timeout';
    case 'cancelled':
      return 'cancelled';
    case 'internal':
    case 'unavailable':
      return 'failed';
    default:
      return 'rejected';
  }
}
