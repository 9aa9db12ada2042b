import { EventSourceParserStream } from 'eventsource-parser/stream';

/** What a POST was answered with: a text, or JSON texts that come one after another. */
export type Reply = {
  readonly status: number;
  readonly sessionId: string | undefined;
} & (
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'stream'; readonly texts: AsyncIterable<string> }
);

export async function readReply(response: Response): Promise<Reply> {
  const base = { status: response.status, sessionId: response.headers.get('mcp-session-id') ?? undefined };
  const streams =
    response.headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;
  if (streams && response.body) return { ...base, kind: 'stream', texts: eventTexts(response.body) };
  return { ...base, kind: 'text', text: await response.text() };
}

async function* eventTexts(body: NonNullable<Response['body']>): AsyncGenerator<string> {
  // A comment is a heartbeat, an event without data only carries an id: neither is a message.
  for await (const event of body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())) {
    if (event.data !== '') yield event.data;
  }
}
