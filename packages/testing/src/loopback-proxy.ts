import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LoopbackProxy {
  /** Such as http://127.0.0.1:40000. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A proxy on loopback in front of one or more origins, each request to the next one whoever sends it: no stickiness. Method,
 * path, Host, Origin, repeated and unknown headers, bodies and streams pass as they came, byte by byte in both directions.
 * When either side goes away, the other one is told: closing a stream is how a client cancels.
 */
export async function startLoopbackProxy(options: {
  /** Looked at with each request: more may be added once the address of the proxy is known. */
  readonly targets: readonly string[];
  /** Sees the headers of each request, names and values alternating, and gives those to send on. */
  readonly headers?: (rawHeaders: readonly string[]) => readonly string[];
}): Promise<LoopbackProxy> {
  let turn = 0;
  const server = createServer((incoming, answer) => {
    const { targets } = options;
    const target = new URL(targets[turn++ % targets.length]!);
    const headers = options.headers?.(incoming.rawHeaders) ?? incoming.rawHeaders;
    const outgoing = request({
      host: target.hostname,
      port: target.port,
      method: incoming.method,
      path: incoming.url,
      headers,
      setHost: false,
    });
    outgoing.on('response', response => {
      answer.sendDate = false;
      answer.writeHead(response.statusCode ?? 502, response.statusMessage, response.rawHeaders);
      // An event stream may stay silent for long after its head; the client must see that it is open.
      answer.flushHeaders();
      response.pipe(answer);
      response.on('error', () => answer.destroy());
    });
    outgoing.on('error', () => answer.destroy());
    answer.on('close', () => outgoing.destroy());
    incoming.on('error', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close(error => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}
