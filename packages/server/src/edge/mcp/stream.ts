const FIRST_BYTE = new TextEncoder().encode(': open\n\n');

/**
 * An event stream whose first byte leaves at once, so that proxies hold nothing back and clients see the call accepted
 * (field-reports 2.11). `onEnd` runs once, when the stream ended or its reader went away.
 */
export function streamWithFirstByte(response: Response, onEnd: () => void): Response {
  const reader = response.body!.getReader();
  let ended = false;
  const end = () => {
    if (!ended) onEnd();
    ended = true;
  };
  const body = new ReadableStream<Uint8Array>({
    start: controller => controller.enqueue(FIRST_BYTE),
    async pull(controller) {
      const { done, value } = await reader.read();
      if (value) controller.enqueue(value);
      if (done) {
        end();
        controller.close();
      }
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
