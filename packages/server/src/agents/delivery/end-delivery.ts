import type { PlatformError } from '../../kernel/errors.ts';
import { newMessageId } from '../../kernel/ids.ts';
import type { Db } from '../../store/store.ts';
import {
  type Delivery,
  type EndState,
  endDelivery,
  findNextDelivery,
  suspendDelivery,
} from '../../store/tables/deliveries.ts';
import { hurryJob } from '../../store/tables/jobs.ts';
import { appendMessages, type LoggedMessage } from '../../store/tables/message-logs.ts';
import { replyOf } from '../call/agent-calls.ts';
import type { TurnAnswer } from '../turn/turn-answer.ts';
import { taskStateOf } from './delivery-state.ts';

/** The kind of job that works on one delivery. */
export const DELIVER = 'deliver';

/** What a task is told that has not ended by its deadline. */
export const TOO_LATE = {
  state: 'timeout',
  error: { code: 'service_timeout', message: 'The agent did not end before the deadline.' },
} as const;

/** Under this id the log has the message itself. */
export function messageIdOf({ id }: Pick<Delivery, 'id'>): string {
  return id.replace(/^task_/, 'msg_');
}

export type NewMessage = Parameters<typeof appendMessages>[2][number];

/** What a log has of an answer. */
export function replyMessage(answer: TurnAnswer, inReplyTo: string | undefined, at: number): NewMessage {
  const { text, contextId, quickReplies } = replyOf(answer);
  return {
    id: newMessageId(),
    type: 'agent_reply',
    state: 'completed',
    inReplyTo,
    body: text,
    payload: { context_id: contextId, ...(quickReplies.length > 0 && { quick_replies: quickReplies }) },
    createdAt: at,
  };
}

/** What a log has of a message that has no answer. */
export function failureMessage(
  error: { readonly code: string; readonly message: string },
  state: Exclude<LoggedMessage['state'], 'completed'>,
  inReplyTo: string | undefined,
  at: number,
): NewMessage {
  return {
    id: newMessageId(),
    type: 'agent_reply_error',
    state,
    inReplyTo,
    body: error.message,
    payload: { code: error.code },
    createdAt: at,
  };
}

/** A task's log tells each change of its state. */
export function statusMessage(delivery: Delivery, at: number): NewMessage[] {
  if (delivery.kind !== 'task') return [];
  const body = taskStateOf(delivery, delivery.createdAt);
  return [{ id: newMessageId(), type: 'task_status', state: 'completed', body, createdAt: at }];
}

/** Ends a delivery with its answer. False when it has ended already: then nothing is written. */
export async function endWithAnswer(
  db: Db,
  delivery: Delivery,
  answer: TurnAnswer,
  at: number,
): Promise<boolean> {
  const { text } = replyOf(answer);
  if (!(await endDelivery(db, delivery.id, { state: 'completed', result: { text }, at }))) return false;
  await appendMessages(db, delivery.logId, [
    replyMessage(answer, messageIdOf(delivery), at),
    ...statusMessage({ ...delivery, state: 'completed' }, at),
  ]);
  await callNext(db, delivery);
  return true;
}

/** Ends a delivery that has no answer. False when it has ended already: then nothing is written. */
export async function endWithError(
  db: Db,
  delivery: Delivery,
  end: {
    readonly state: Exclude<EndState, 'completed'>;
    readonly error: { readonly code: string; readonly message: string };
    readonly reason?: string | undefined;
  },
  at: number,
): Promise<boolean> {
  const { state, error, reason } = end;
  if (!(await endDelivery(db, delivery.id, { state, result: { error }, reason, at }))) return false;
  await appendMessages(db, delivery.logId, [
    failureMessage(error, state === 'cancelled' ? 'cancelled' : 'failed', messageIdOf(delivery), at),
    ...statusMessage({ ...delivery, state }, at),
  ]);
  await callNext(db, delivery);
  return true;
}

/** Of the messages of one conversation the next one may have its turn. */
async function callNext(db: Db, { kind, logId }: Delivery): Promise<void> {
  if (kind !== 'message') return;
  const next = await findNextDelivery(db, logId);
  if (next !== undefined) await hurryJob(db, deliverJobOf(next));
}

/** The job that works on a delivery. */
export function deliverJobOf(deliveryId: string): { readonly id: string; readonly kind: string } {
  return { id: `${DELIVER}/${deliveryId}`, kind: DELIVER };
}

/** Notes that the turn of a delivery waits for a person. False when it has ended already. */
export async function noteWaiting(
  db: Db,
  delivery: Delivery,
  waitsFor: string,
  at: number,
): Promise<boolean> {
  if (!(await suspendDelivery(db, delivery.id, waitsFor))) return false;
  await appendMessages(db, delivery.logId, statusMessage({ ...delivery, state: 'waiting' }, at));
  return true;
}

export function wireError(error: PlatformError): { readonly code: string; readonly message: string } {
  return { code: error.row.agentCode, message: error.message };
}
