import type { CallStream } from '../../operations/bind.ts';

const ENCODER = new TextEncoder();
const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
const KEEP_ALIVE_MS = 15_000;
/** What waits for a slow reader, in events; whoever sends waits for it beyond that. */
const MAX_WAITING = 64;

/** A stream of frames with its response, for one call. */
export interface FrameStream extends CallStream {
  /** Resolves when the operation opens the stream. */
  readonly opened: Promise<void>;
  readonly isOpen: boolean;
  /** The answer to give once it is opened. */
  readonly response: Response;
  /** Aborts when nobody reads any more. */
  readonly broken: AbortSignal;
  close(): void;
}

/** Server-sent events: a first byte as soon as it is open, one event a frame, comments while nothing is said. */
export function createFrameStream(): FrameStream {
  const broken = new AbortController();
  const { promise: opened, resolve } = Promise.withResolvers<void>();
  let controller: ReadableStreamDefaultController<Uint8Array>;
  /** Set while somebody waits for room. */
  let room: PromiseWithResolvers<void> | undefined;
  let isClosed = false;
  let keepAlive: ReturnType<typeof setInterval> | undefined;

  function makeRoom(): void {
    room?.resolve();
    room = undefined;
  }

  const end = () => {
    isClosed = true;
    clearInterval(keepAlive);
    makeRoom();
  };
  const write = (text: string) => {
    if (!isClosed) controller.enqueue(ENCODER.encode(text));
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(started) {
        controller = started;
      },
      pull: makeRoom,
      cancel(reason) {
        end();
        broken.abort(reason);
      },
    },
    { highWaterMark: MAX_WAITING },
  );

  return {
    opened,
    get isOpen() {
      return keepAlive !== undefined;
    },
    broken: broken.signal,
    response: new Response(body, { headers: HEADERS }),
    open() {
      keepAlive ??= setInterval(() => write(': keepalive\n\n'), KEEP_ALIVE_MS);
      write(': open\n\n');
      resolve();
    },
    async send(frame, { name, id } = {}) {
      const event = name === undefined ? '' : `event: ${name}\n`;
      write(`${id === undefined ? '' : `id: ${id}\n`}${event}data: ${JSON.stringify(frame)}\n\n`);
      if (isClosed || controller.desiredSize! > 0) return;
      room ??= Promise.withResolvers();
      await room.promise;
    },
    close() {
      if (isClosed) return;
      end();
      controller.close();
    },
  };
}
