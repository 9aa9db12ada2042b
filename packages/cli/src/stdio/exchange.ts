import { type Message, type RequestId, requestId, statelessVersion } from './message.ts';

/** One POST of the host, until what it asks is answered. */
export interface Exchange {
  readonly messages: readonly Message[];
  readonly stateless: boolean;
  /** Ids still without an answer. An array: a client may use one id twice at a time (field-reports 2.18). */
  readonly unanswered: RequestId[];
  /** Requests of the server on this stream that the host has not answered. */
  readonly asked: RequestId[];
  readonly abort: AbortController;
  /** The host has lost interest: nothing is made up for it when the stream ends without an answer. */
  cancelled: boolean;
}

export function createExchange(messages: readonly Message[]): Exchange {
  return {
    messages,
    stateless: statelessVersion(messages[0]!) !== undefined,
    unanswered: messages.flatMap(message => requestId(message) ?? []),
    asked: [],
    abort: new AbortController(),
    cancelled: false,
  };
}

/** Once the input has ended: does this exchange only go on for a host that cannot answer, or for nobody? */
export function isHopeless(exchange: Exchange): boolean {
  const { messages, unanswered, asked, cancelled } = exchange;
  if (cancelled || asked.length > 0 || messages[0]!.method === 'subscriptions/listen') return true;
  const isAnswered = unanswered.length === 0 && messages.some(message => requestId(message) !== undefined);
  return isAnswered;
}

/** Takes one id out; the other of two equal ones stays. */
export function removeId(ids: RequestId[], id: RequestId): void {
  const index = ids.indexOf(id);
  if (index >= 0) ids.splice(index, 1);
}
