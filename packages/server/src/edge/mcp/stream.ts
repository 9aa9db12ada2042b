const ENCODER = new TextEncoder();
const FIRST_BYTE = ENCODER.encode(': open\n\n');
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
};

/**
 * An event stream whose first byte leaves at once, so that proxies hold nothing back and clients see the call accepted
 * (field-reports 2.11). `onEnd` runs once, when the stream ended or its reader went away.
 */
export function streamWithFirstByte(response: Response, onEnd: () => Promise<void>): Response {
  const reader = response.body!.getReader();
  let ended: Promise<void> | undefined;
  const end = () => {
    ended ??= onEnd();
    return ended;
  };
  const body = new ReadableStream<Uint8Array>({
    start: controller => controller.enqueue(FIRST_BYTE),
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (value) controller.enqueue(value);
        if (!done) return;
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      await end();
    },
    async cancel(reason) {
      await reader.cancel(reason).catch(() => {});
      await end();
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

/**
 * An event stream of our own: first byte at once, comments while nothing is said, closed after `produce`. A reader that goes
 * away aborts `broken`; what is sent after that is heard by nobody.
 */
export function eventStream(
  keepAliveMs: number,
  broken: AbortController,
  produce: (send: (json: string) => void) => Promise<void>,
): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string) => {
        if (!broken.signal.aborted) controller.enqueue(ENCODER.encode(text));
      };
      const timer = setInterval(() => write(': keepalive\n\n'), keepAliveMs);
      controller.enqueue(FIRST_BYTE);
      void produce(json => write(`event: message\ndata: ${json}\n\n`)).finally(() => {
        clearInterval(timer);
        if (!broken.signal.aborted) controller.close();
      });
    },
    cancel(reason) {
      broken.abort(reason);
    },
  });
  return new Response(body, { headers: STREAM_HEADERS });
}

export function isEventStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}
