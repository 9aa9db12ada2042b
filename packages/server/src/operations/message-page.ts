import type { LogEnd, LoggedMessage, MessageReader } from '../agents/delivery/message-reader.ts';
import type { CallStream, OperationCall } from './bind.ts';

type EndReason = 'task_terminal' | 'channel_closed' | 'stream_closed';

/** As many as a reader gets who follows a log without a stream. */
const PAGE = 200;

/** A message of a log as REST shows it (BX-26). */
function messageInfo(message: LoggedMessage) {
  return {
    message_id: message.id,
    offset: message.position,
    type: message.type,
    state: message.state,
    ...(message.inReplyTo !== undefined && { in_reply_to: message.inReplyTo }),
    body: message.body,
    ...(message.payload && { payload: { ...message.payload } }),
    created_at: message.createdAt,
  };
}

export async function messagePage(
  reader: MessageReader,
  logId: string,
  page: { readonly since: number; readonly limit: number },
) {
  const messages = (await reader.read(logId, page)).map(messageInfo);
  return { count: messages.length, messages, next: messages.at(-1)?.offset ?? page.since };
}

/** Follows a log on the stream of the call, or answers what is there now where the call has none. */
export async function watchLog(
  reader: MessageReader,
  log: {
    readonly id: string;
    readonly since: number;
    readonly isOver: () => Promise<boolean>;
    /** What it is called when the log is over. */
    readonly over: EndReason;
  },
  { stream, signal }: OperationCall,
) {
  if (!stream) return messagePage(reader, log.id, { since: log.since, limit: PAGE });
  stream.open();
  const { isOver, since } = log;
  const take = (message: LoggedMessage) => sendMessage(stream, message);
  const end = await reader.follow(log.id, { since, isOver, signal, take });
  await stream.send({ type: 'end', reason: reasonOf(end, log.over) }, { name: 'end' });
  return { count: 0, messages: [], next: since };
}

function sendMessage(stream: CallStream, message: LoggedMessage): Promise<void> {
  return stream.send(messageInfo(message), { id: String(message.position) });
}

function reasonOf(end: LogEnd, over: EndReason): EndReason {
  return end === 'over' ? over : 'stream_closed';
}
