import { TextDecoder } from 'node:util';
import { createParser, type EventSourceMessage } from 'eventsource-parser';

export interface SseHandlers {
  readonly onEvent: (event: EventSourceMessage) => void;
  /** Milliseconds the server asks to wait before coming back. */
  readonly onRetry: (ms: number) => void;
}

/**
 * Reads a stream of server-sent events to its end. Rejects when one event is larger than `maxEventBytes`, or with what broke the stream.
 * Characters split over chunks survive; comments are not seen.
 */
export async function readSse(
  body: AsyncIterable<Uint8Array>,
  maxEventBytes: number,
  { onEvent, onRetry }: SseHandlers,
): Promise<void> {
  const decoder = new TextDecoder();
  let sinceEvent = 0;
  const parser = createParser({
    onEvent: event => {
      sinceEvent = 0;
      onEvent(event);
    },
    onRetry,
    onComment: () => {
      sinceEvent = 0;
    },
  });
  for await (const chunk of body) {
    sinceEvent += chunk.byteLength;
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (sinceEvent > maxEventBytes) throw new Error(`an event is larger than ${maxEventBytes} bytes`);
  }
}
