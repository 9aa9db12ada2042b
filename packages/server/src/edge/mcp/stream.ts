const FIRST_BYTE = new TextEncoder().encode(': open\n\n');

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
      const { done, value } = await reader.read();
      if (value) controller.enqueue(value);
      if (done) {
        await end();
        controller.close();
      }
    },
    async cancel(reason) {
      await reader.cancel(reason);
      await end();
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

export function isEventStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}
