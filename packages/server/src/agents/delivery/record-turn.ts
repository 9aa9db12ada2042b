import { newMessageId } from '../../kernel/ids.ts';
import type { Db } from '../../store/store.ts';
import { type Delivery, findDelivery } from '../../store/tables/deliveries.ts';
import { appendMessages } from '../../store/tables/message-logs.ts';
import type { StoredTurn } from '../turn/stored-turn.ts';
import { isWaiting, type TurnAnswer } from '../turn/turn-answer.ts';
import { endStateOf } from './delivery-state.ts';
import {
  endWithAnswer,
  endWithError,
  failureMessage,
  messageIdOf,
  type NewMessage,
  noteWaiting,
  replyMessage,
  wireError,
} from './end-delivery.ts';

/**
 * Writes a turn into the log of its conversation and ends its delivery, in the unit that stores it: neither is ever told twice,
 * or of a turn that is not there. False when the delivery has ended meanwhile, so that nobody wants the turn any more.
 */
export async function recordTurn(db: Db, turn: StoredTurn): Promise<boolean> {
  const delivery = turn.delivery === undefined ? undefined : await findDelivery(db, turn.delivery);
  if (delivery && !(await recordDelivery(db, delivery, turn))) return false;
  // What was posted there is in the log already, and its reply is the end of its delivery.
  if (turn.logged && delivery?.logId !== turn.conversationId) {
    await appendMessages(db, turn.conversationId, messagesOf(turn));
  }
  return true;
}

async function recordDelivery(db: Db, delivery: Delivery, turn: StoredTurn): Promise<boolean> {
  const { outcome, at } = turn;
  if ('failure' in outcome) {
    return endWithError(
      db,
      delivery,
      { state: endStateOf(outcome.failure.kind), error: wireError(outcome.failure) },
      at,
    );
  }
  const { answer } = outcome;
  if (!isWaiting(answer)) return endWithAnswer(db, delivery, answer, at);
  if (!(await noteWaiting(db, delivery, answer.message ?? '', at))) return false;
  if (answer.pauseType === 'SIGN_IN' && delivery.kind === 'message')
    await appendMessages(db, delivery.logId, [askedMessage(answer, messageIdOf(delivery), at)]);
  return true;
}

/** What only the person in the conversation can do, its log says as anything else; what was said before is in the reply to come. */
function askedMessage(answer: TurnAnswer, inReplyTo: string | undefined, at: number): NewMessage {
  return replyMessage({ ...answer, agentResponseParts: [answer.message ?? ''] }, inReplyTo, at);
}

/** What another surface, or a task, has said in a conversation with a log. */
function messagesOf({ input, wasTold, outcome, at }: StoredTurn): NewMessage[] {
  const messageId = newMessageId();
  const said: NewMessage[] =
    input === undefined || wasTold
      ? []
      : [{ id: messageId, type: 'chat_message', state: 'completed', body: input, createdAt: at }];
  const inReplyTo = said.length > 0 ? messageId : undefined;
  if ('failure' in outcome)
    return [...said, failureMessage(wireError(outcome.failure), 'failed', inReplyTo, at)];
  const { answer } = outcome;
  if (answer.pauseType === 'SIGN_IN') return [...said, askedMessage(answer, inReplyTo, at)];
  return isWaiting(answer) ? said : [...said, replyMessage(answer, inReplyTo, at)];
}
