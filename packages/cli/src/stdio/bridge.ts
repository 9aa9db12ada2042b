import type { Door } from './door.ts';
import { createExchange, type Exchange, isHopeless, removeId } from './exchange.ts';
import { oneLine, readLines } from './lines.ts';
import { answeredId, cancelledId, isObject, parseMessages, type RequestId, requestId } from './message.ts';
import type { Reply } from './reply.ts';
import { createUpstream } from './upstream.ts';

export interface BridgeOptions {
  /** Bytes of JSON-RPC lines. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Takes one message without its line end; resolves when more may come. */
  readonly write: (line: string) => Promise<void>;
  readonly door: Door;
  readonly fetch: typeof fetch;
  /** For a person who reads the host's log: one sentence, no message contents. */
  readonly note: (sentence: string) => void;
  /** Drops what is in flight. */
  readonly signal: AbortSignal;
}

/** Failures before anything was sent. After any other the message may have arrived. */
const NOT_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * Carries every message of a stdio host to a Streamable HTTP door and back, as it is. Each line is a POST of its own, so
 * calls run side by side. Resolves when the input has ended and what can still be answered is answered.
 */
export async function runBridge(options: BridgeOptions): Promise<void> {
  const { note, write, signal } = options;
  const upstream = createUpstream(options);
  const inFlight = new Set<Exchange>();
  const tasks = new Set<Promise<void>>();
  /** Handshakes under way: what follows one needs what it settles, also from a host that does not wait. */
  const handshakes = new Set<Promise<void>>();
  let ended = false;

  try {
    for await (const line of readLines(options.input)) {
      if (line?.trim() === '') continue;
      const task = takeLine(line).finally(() => tasks.delete(task));
      tasks.add(task);
    }
  } finally {
    ended = true;
    for (const exchange of inFlight) dropIfHopeless(exchange);
    await Promise.all(tasks);
  }

  async function takeLine(line: string | undefined): Promise<void> {
    const messages = line === undefined ? undefined : parseMessages(line);
    if (line === undefined || !messages) {
      return answerError(null, -32700, 'Parse error: a line must be one JSON-RPC message in UTF-8.');
    }
    const cancelled = messages.length === 1 ? cancelledId(messages[0]!) : undefined;
    if (cancelled !== undefined && !cancel(cancelled)) return;
    for (const id of messages.flatMap(message => answeredId(message) ?? [])) {
      for (const exchange of inFlight) removeId(exchange.asked, id);
    }
    const exchange = createExchange(messages);
    inFlight.add(exchange);
    const isHandshake = messages[0]!.method === 'initialize';
    if (!exchange.stateless && !isHandshake) await Promise.all(handshakes);
    if (exchange.cancelled) return void inFlight.delete(exchange);
    const done = carry(line, exchange);
    if (isHandshake) {
      handshakes.add(done);
      const over = (): boolean => handshakes.delete(done);
      done.then(over, over);
    }
    await done;
  }

  /**
   * Cancels the latest call of that id. Says whether the server must be told: in the stateless era closing the stream
   * tells it, and a call that is unknown here has been answered.
   */
  function cancel(id: RequestId): boolean {
    const exchange = [...inFlight].findLast(candidate => candidate.unanswered.includes(id));
    if (!exchange) return upstream.hasSession;
    exchange.cancelled = true;
    if (exchange.stateless) exchange.abort.abort();
    return !exchange.stateless;
  }

  /** Never rejects for the platform's sake: every request gets exactly one answer, also when the platform gives none. */
  async function carry(line: string, exchange: Exchange): Promise<void> {
    try {
      const stop = AbortSignal.any([signal, exchange.abort.signal]);
      const reply = await upstream.send(line, exchange.messages, stop);
      if (reply.kind === 'stream') await relayStream(reply, exchange);
      else if (reply.status >= 200 && reply.status < 300) await relayText(reply, exchange);
      else await relayRefusal(reply, exchange);
      const missing = 'The platform ended its answer without a result; the call may have run.';
      await failUnanswered(exchange, missing);
    } catch (thrown) {
      await failUnanswered(exchange, describeFailure(thrown, exchange));
    } finally {
      inFlight.delete(exchange);
    }
  }

  async function relayStream(reply: Reply & { kind: 'stream' }, exchange: Exchange): Promise<void> {
    for await (const text of reply.texts) {
      await relay(text, exchange);
      // Read to its end otherwise, which keeps the connection; but everything waits for a handshake.
      if (exchange.messages[0]!.method === 'initialize' && exchange.unanswered.length === 0) return;
    }
  }

  /** An accepted notification has no text, or one that is no message. */
  async function relayText(reply: Reply & { kind: 'text' }, exchange: Exchange): Promise<void> {
    const messages = parseMessages(reply.text);
    if (messages?.every(message => answeredId(message) !== undefined)) await relay(reply.text, exchange);
  }

  async function relay(text: string, exchange: Exchange): Promise<void> {
    for (const message of parseMessages(text) ?? []) {
      const answered = answeredId(message);
      const asks = requestId(message);
      if (answered !== undefined) removeId(exchange.unanswered, answered);
      if (asks !== undefined) exchange.asked.push(asks);
    }
    await write(oneLine(text));
    if (ended) dropIfHopeless(exchange);
  }

  async function relayRefusal(reply: Reply & { kind: 'text' }, exchange: Exchange): Promise<void> {
    const error = parseMessages(reply.text)?.[0]?.error;
    const reason = isObject(error) && typeof error.message === 'string' ? error.message : 'no reason given';
    const sentence = `The platform answered ${reply.status}: ${reason}`;
    if (reply.status === 401 || exchange.unanswered.length === 0) note(sentence);
    for (const id of exchange.unanswered.splice(0)) {
      // Refused before it was read, a request is answered without its id; the host waits for the id.
      if (isObject(error) && Number.isInteger(error.code)) await answer(id, error);
      else await answerError(id, -32603, sentence, { httpStatus: reply.status });
    }
  }

  function dropIfHopeless(exchange: Exchange): void {
    if (!isHopeless(exchange)) return;
    exchange.cancelled = true;
    exchange.abort.abort();
  }

  async function failUnanswered(exchange: Exchange, message: string): Promise<void> {
    if (exchange.cancelled || signal.aborted) return;
    for (const id of exchange.unanswered.splice(0)) await answerError(id, -32603, message);
  }

  function answerError(
    id: RequestId | null,
    code: number,
    message: string,
    data?: Record<string, unknown>,
  ): Promise<void> {
    return answer(id, { code, message, ...(data ? { data } : {}) });
  }

  function answer(id: RequestId | null, error: Record<string, unknown>): Promise<void> {
    return write(oneLine(JSON.stringify({ jsonrpc: '2.0', id, error })));
  }

  function describeFailure(thrown: unknown, exchange: Exchange): string {
    const { cause, message } = thrown as Error & { cause?: { code?: string } };
    // fetch rejects with a TypeError whatever happened on the way; everything else already is a sentence.
    const sentence = !(thrown instanceof TypeError)
      ? message
      : NOT_SENT.has(cause?.code ?? '')
        ? 'The platform does not answer; start it with `npx patchbay up`.'
        : 'The connection to the platform broke before the answer came; the call may have run.';
    if (!exchange.cancelled && !signal.aborted) note(sentence);
    return sentence;
  }
}
