import type { Door, Entrance } from './door.ts';
import { messageHeaders, type Session } from './headers.ts';
import { answeredId, isObject, type Message, parseMessages, requestId, statelessVersion } from './message.ts';
import { type Reply, readReply } from './reply.ts';

/** The HTTP side of a bridge: it knows the credential and what `initialize` settled. */
export interface Upstream {
  /**
   * Posts one JSON text (`messages` is what it holds). Sends it once more when the credential or the session was refused,
   * since nothing has happened then; never after anything else. Rejects as `fetch` does.
   */
  send(text: string, messages: readonly Message[], signal: AbortSignal): Promise<Reply>;
  /** Has a handshake been made? */
  readonly hasSession: boolean;
}

/** The server does not know the session, and so has not looked at the message (decisions.md 4). */
const UNKNOWN_SESSION = -32001;

const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

export function createUpstream(options: { readonly door: Door; readonly fetch: typeof fetch }): Upstream {
  const { door } = options;
  let session: Session | undefined;
  /** The `initialize` that made the session, to make another when the server has forgotten it. */
  let opening: string | undefined;
  let reopening: Promise<void> | undefined;

  async function post(
    text: string,
    messages: readonly Message[],
    signal: AbortSignal,
  ): Promise<{ entrance: Entrance; reply: Reply }> {
    const entrance = await door.enter();
    const response = await options.fetch(entrance.url, {
      method: 'POST',
      headers: {
        ...messageHeaders(messages, session),
        ...(entrance.token === undefined ? {} : { authorization: `Bearer ${entrance.token}` }),
      },
      body: text,
      // A redirected POST becomes a GET, which no door answers.
      redirect: 'manual',
      signal,
    });
    return { entrance, reply: await readReply(response) };
  }

  /** Makes a session anew with the client's own `initialize`; the client need not know (field-reports 2.1). */
  async function reopen(signal: AbortSignal): Promise<void> {
    const messages = parseMessages(opening!)!;
    const { reply } = await post(opening!, messages, signal);
    for await (const text of textsOf(reply)) learn(text, messages, reply);
    await post(INITIALIZED, parseMessages(INITIALIZED)!, signal);
  }

  function learn(text: string, messages: readonly Message[], reply: Reply): void {
    const id = requestId(messages[0]!);
    const result = parseMessages(text)?.find(message => answeredId(message) === id)?.result;
    if (isObject(result) && typeof result.protocolVersion === 'string') {
      session = { version: result.protocolVersion, id: reply.sessionId };
    }
  }

  /** The reply to an `initialize`, read on the way: the session is known before the client can use it. */
  function learning(text: string, messages: readonly Message[], reply: Reply): Reply {
    opening = text;
    if (reply.kind === 'text') {
      learn(reply.text, messages, reply);
      return reply;
    }
    async function* texts(from: AsyncIterable<string>): AsyncGenerator<string> {
      for await (const part of from) {
        learn(part, messages, reply);
        yield part;
      }
    }
    return { ...reply, texts: texts(reply.texts) };
  }

  return {
    async send(text, messages, signal) {
      const used = statelessVersion(messages[0]!) === undefined ? session : undefined;
      let { entrance, reply } = await post(text, messages, signal);
      if (reply.status === 401 && (await door.renew(entrance))) {
        ({ entrance, reply } = await post(text, messages, signal));
      }
      if (messages[0]!.method === 'initialize') return learning(text, messages, reply);
      if (used && isUnknownSession(reply)) {
        // Whoever comes first makes the new session, for all whose message met the old one.
        if (session === used) {
          reopening ??= reopen(signal).finally(() => {
            reopening = undefined;
          });
          await reopening;
        }
        ({ reply } = await post(text, messages, signal));
      }
      return reply;
    },

    get hasSession() {
      return session !== undefined;
    },
  };
}

async function* textsOf(reply: Reply): AsyncGenerator<string> {
  if (reply.kind === 'stream') yield* reply.texts;
  else yield reply.text;
}

function isUnknownSession(reply: Reply): boolean {
  if (reply.status !== 404 || reply.kind !== 'text') return false;
  const error = parseMessages(reply.text)?.[0]?.error;
  return isObject(error) && error.code === UNKNOWN_SESSION;
}
