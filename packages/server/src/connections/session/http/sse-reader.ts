import { TextDecoder } from 'node:util';

export interface SseEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  /** Empty where the event only carries an id. */
  readonly data: string;
}

export interface SseHandlers {
  readonly onEvent: (event: SseEvent) => void;
  /** Milliseconds the server asks to wait before coming back. */
  readonly onRetry: (ms: number) => void;
}

export interface SseLimit {
  /** Of what has come of an event before it is whole. */
  readonly maxEventChars: number;
  readonly tooLarge: () => Error;
}

/** It goes back in a header. */
const MAX_ID_CHARS = 1_000;

/**
 * Reads a stream of server-sent events to its end (WHATWG HTML, 9.2.6). Rejects with `tooLarge()`, or with what broke the stream. Time is linear
 * in the stream, however its lines end and wherever its chunks do; characters split over chunks survive.
 */
export async function readSse(
  body: AsyncIterable<Uint8Array>,
  { maxEventChars, tooLarge }: SseLimit,
  handlers: SseHandlers,
): Promise<void> {
  const decoder = new TextDecoder();
  const event = new EventBuilder(handlers);
  const lineEnd = /\r\n?|\n/g;
  let line = new Pieces();
  let endedInCr = false;
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    if (text === '') continue;
    let from = endedInCr && text.startsWith('\n') ? 1 : 0;
    endedInCr = text.endsWith('\r');
    lineEnd.lastIndex = from;
    for (let end = lineEnd.exec(text); end; end = lineEnd.exec(text)) {
      event.line(line.with(text.slice(from, end.index)));
      if (line.chars > 0) line = new Pieces();
      from = lineEnd.lastIndex;
    }
    line.add(text.slice(from));
    if (line.chars + event.chars > maxEventChars) throw tooLarge();
  }
}

/** A text that grows by what may be single characters, without an object for each of them and without being copied each time. */
class Pieces {
  chars = 0;
  private small: string[] = [];
  private readonly large: string[] = [];

  add(text: string): void {
    if (text === '') return;
    this.chars += text.length;
    if (this.small.push(text) < 1_024) return;
    this.large.push(this.small.join(''));
    this.small = [];
  }

  with(end: string): string {
    return this.chars === 0 ? end : [...this.large, ...this.small, end].join('');
  }
}

class EventBuilder {
  /** Kept for the event that has not ended. */
  chars = 0;
  private data: string[] = [];
  private event: string | undefined;
  private id: string | undefined;
  private readonly handlers: SseHandlers;

  constructor(handlers: SseHandlers) {
    this.handlers = handlers;
  }

  line(line: string): void {
    if (line === '') {
      this.end();
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    switch (colon < 0 ? line : line.slice(0, colon)) {
      case 'data':
        this.data.push(value);
        // Empty lines cost, too.
        this.chars += value.length + 16;
        return;
      case 'event':
        this.event = value || undefined;
        return;
      case 'id':
        if (value.length <= MAX_ID_CHARS && !value.includes('\0')) this.id = value;
        return;
      case 'retry':
        if (/^\d{1,9}$/.test(value)) this.handlers.onRetry(Number(value));
    }
  }

  private end(): void {
    const { data, event, id } = this;
    this.data = [];
    this.event = undefined;
    this.id = undefined;
    this.chars = 0;
    if (data.length > 0 || id !== undefined) this.handlers.onEvent({ id, event, data: data.join('\n') });
  }
}
